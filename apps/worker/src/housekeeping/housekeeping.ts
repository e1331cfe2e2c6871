import { setTimeout as delay } from 'node:timers/promises';
import type { Sql } from '@glovebox/database';
import type { Background } from '../background';
import type { WorkerConfig } from '../config';
import type { WorkerContext } from '../context';
import {
  deleteEndedDeliveries,
  deleteEndedRuns,
  deleteExpiredTokens,
  deleteLogsOfTenants,
  deleteOldIdempotencyKeys,
  deleteRemainsOfTenants,
  dropOldRows,
  eraseEndedBodies,
  eraseGoneAnswers,
  forgetFailingPaths,
  makePartitions,
} from './deletions';

/** Deletes at most `rowsMax` rows of a table, and returns how many. */
type DeletePart = (sql: Sql, rowsMax: number) => Promise<number>;

interface Work {
  readonly name: string;
  readonly everyMs: number;
  readonly deletePart: DeletePart;
}

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const works = (config: WorkerConfig): readonly Work[] => [
  { name: 'tenant_remains', everyMs: minuteMs, deletePart: deleteRemainsOfTenants },
  { name: 'tenant_logs', everyMs: 10 * minuteMs, deletePart: deleteLogsOfTenants },
  { name: 'expired_tokens', everyMs: 30 * secondMs, deletePart: deleteExpiredTokens },
  { name: 'gone_answers', everyMs: 5 * secondMs, deletePart: eraseGoneAnswers },
  { name: 'idempotency_keys', everyMs: 10 * minuteMs, deletePart: deleteOldIdempotencyKeys },
  { name: 'ended_runs', everyMs: 10 * minuteMs, deletePart: deleteEndedRuns },
  { name: 'ended_deliveries', everyMs: 10 * minuteMs, deletePart: deleteEndedDeliveries },
  { name: 'failing_paths', everyMs: 10 * minuteMs, deletePart: forgetFailingPaths },
  { name: 'ended_bodies', everyMs: 10 * minuteMs, deletePart: eraseEndedBodies },
  {
    name: 'old_runs',
    everyMs: 10 * minuteMs,
    deletePart: dropOldRows('ended_runs', config.RUNS_KEPT_DAYS),
  },
  {
    name: 'old_deliveries',
    everyMs: 10 * minuteMs,
    deletePart: dropOldRows('ended_deliveries', config.DELIVERIES_KEPT_DAYS),
  },
  {
    name: 'old_audit_lines',
    everyMs: 10 * minuteMs,
    deletePart: dropOldRows('audit_log', config.AUDIT_KEPT_DAYS),
  },
];

/**
 * Deletes the rows that nobody needs any more, and makes partitions ahead. Every worker does it: a
 * statement passes over the rows that another worker is deleting, and finds nothing where that one
 * was first.
 */
export function startHousekeeping(
  { config, database }: Pick<WorkerContext, 'config' | 'database'>,
  background: Background,
): void {
  background.repeat('partitions', 60 * minuteMs, () => makePartitions(database));
  for (const { name, everyMs, deletePart } of works(config)) {
    background.repeat(name, everyMs, (stopped) => deleteInParts(database, deletePart, stopped));
  }
}

const deletedRowsMax = 1_000;
/** An upgrade may leave millions of rows to delete. The database has other work in between. */
export const deletionPauseMs = 200;

/** Deletes a part at a time, so that no lock is held for long. */
export async function deleteInParts(
  sql: Sql,
  deletePart: DeletePart,
  stopped: AbortSignal,
): Promise<void> {
  while ((await deletePart(sql, deletedRowsMax)) >= deletedRowsMax) {
    await delay(deletionPauseMs, undefined, { signal: stopped }).catch(() => undefined);
    if (stopped.aborted) return;
  }
}
