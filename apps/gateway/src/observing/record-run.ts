import { timeOrderedId } from '@glovebox/database';
import type { RunLogEntry, RunRecord } from '@glovebox/reactors';
import type { GatewayContext } from '../context';

/** Hands the record of a run that has ended to the log of runs. A caller waited for the run. */
export function recordRun(
  { runLog }: Pick<GatewayContext, 'runLog'>,
  run: Omit<RunLogEntry, 'runId' | 'attempt' | 'record'>,
): (record: RunRecord) => void {
  return (record) =>
    runLog.add({ ...run, runId: timeOrderedId(record.startedAt), attempt: 1, record });
}
