import { timeOfId, timeOrderedId } from '@glovebox/database';
import type { RunLogEntry, RunRecord } from '@glovebox/reactors';
import type { GatewayContext } from '../context';

/**
 * Hands the record of a run that has ended to the log of runs. A caller waited for the run. Its id
 * is as old as its start.
 */
export function recordRun(
  { runLog }: Pick<GatewayContext, 'runLog'>,
  run: Omit<RunLogEntry, 'runId' | 'attempt' | 'record'>,
  runId = timeOrderedId(),
): (record: RunRecord) => void {
  return (record) => {
    const startedAt = timeOfId(runId) ?? record.startedAt;
    runLog.add({ ...run, runId, attempt: 1, record: { ...record, startedAt } });
  };
}
