import { setTimeout as delay } from 'node:timers/promises';
import { dropOldRows, makePartitions, type Sql } from '@glovebox/database';
import { dropOldBuckets } from '@glovebox/calls';
import {
  deleteCodeTexts,
  deleteOldRepetitions,
  dropOldDeliveries,
  dropOldRuns,
  forgetFailingPaths,
} from '@glovebox/runs';
import type { Background } from './background';
import type { WorkerConfig } from './config';
import type { WorkerContext } from './context';

/** Deletes at most `rowsMax` rows of a table, and returns how many. */
type DeletePart = (sql: Sql, rowsMax: number) => Promise<number>;

interface Work {
  readonly name: string;
  readonly everyMs: number;
  readonly deletePart: DeletePart;
}

/** An overview goes back seven days. */
const bucketDays = 8;
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const works = (config: WorkerConfig): readonly Work[] => [
  /**
   * The tokens, runs and webhooks of deleted tenants. Nothing opens them: their data keys went with
   * the tenant. A call that was under way may have made a new data key; it goes here too.
   */
  { name: 'tenant_remains', everyMs: minuteMs, deletePart: byOwner('delete_remains_of_tenants') },
  /** What deleted tenants leave in the logs of runs, webhooks and calls. */
  { name: 'tenant_logs', everyMs: 10 * minuteMs, deletePart: byOwner('delete_logs_of_tenants') },
  /** Expired tokens are out of use already. */
  {
    name: 'expired_tokens',
    everyMs: 30 * secondMs,
    deletePart: byOwner('delete_expired_tokens'),
  },
  /** Stored answers that show tokens which are gone. */
  { name: 'gone_answers', everyMs: 5 * secondMs, deletePart: byOwner('erase_gone_answers') },
  /** Arguments of failed runs whose time is over. */
  {
    name: 'kept_arguments',
    everyMs: minuteMs,
    deletePart: byOwner('delete_kept_arguments'),
  },
  /** Captured messages of proxies, after a day. */
  { name: 'old_captures', everyMs: 10 * minuteMs, deletePart: byOwner('delete_old_captures') },
  /** Idempotency keys that were used more than 24 hours ago. */
  {
    name: 'idempotency_keys',
    everyMs: 10 * minuteMs,
    deletePart: byOwner('delete_old_idempotency_keys'),
  },
  /** Sessions of the console that are over, and codes and sign-ins that nobody used. */
  {
    name: 'ended_sessions',
    everyMs: 10 * minuteMs,
    deletePart: byOwner('delete_ended_sessions'),
  },
  /** Listeners to webhooks whose lease is over, and what they did not hear. */
  { name: 'ended_listeners', everyMs: minuteMs, deletePart: byOwner('delete_ended_listeners') },
  { name: 'failing_paths', everyMs: 10 * minuteMs, deletePart: forgetFailingPaths },
  /** The results of ended webhooks, a day later. The rest of the row stays in the log. */
  { name: 'ended_bodies', everyMs: 10 * minuteMs, deletePart: byOwner('erase_ended_bodies') },
  {
    name: 'old_runs',
    everyMs: 10 * minuteMs,
    deletePart: (sql, rowsMax) => dropOldRuns(sql, config.RUNS_KEPT_DAYS, rowsMax),
  },
  /** Former code, behind its last runs. */
  {
    name: 'code_texts',
    everyMs: 10 * minuteMs,
    deletePart: (sql, rowsMax) => deleteCodeTexts(sql, config.RUNS_KEPT_DAYS, rowsMax),
  },
  {
    name: 'tenant_deployments',
    everyMs: 10 * minuteMs,
    deletePart: byOwner('delete_deployments_of_tenants'),
  },
  {
    name: 'old_deliveries',
    everyMs: 10 * minuteMs,
    deletePart: (sql, rowsMax) => dropOldDeliveries(sql, config.DELIVERIES_KEPT_DAYS, rowsMax),
  },
  {
    name: 'old_calls',
    everyMs: 10 * minuteMs,
    deletePart: (sql, rowsMax) => dropOldRows(sql, 'calls', config.CALLS_KEPT_DAYS, rowsMax),
  },
  {
    name: 'old_call_counts',
    everyMs: 10 * minuteMs,
    deletePart: (sql, rowsMax) =>
      dropOldRows(sql, 'call_summary', config.CALL_SUMMARY_KEPT_DAYS, rowsMax),
  },
  {
    name: 'old_call_buckets',
    everyMs: 10 * minuteMs,
    deletePart: (sql, rowsMax) =>
      dropOldBuckets(sql, Math.min(config.CALL_SUMMARY_KEPT_DAYS, bucketDays), rowsMax),
  },
  {
    name: 'old_repetitions',
    everyMs: 10 * minuteMs,
    deletePart: (sql, rowsMax) => deleteOldRepetitions(sql, config.RUNS_KEPT_DAYS, rowsMax),
  },
  {
    name: 'old_audit_lines',
    everyMs: 10 * minuteMs,
    deletePart: (sql, rowsMax) => dropOldRows(sql, 'audit_log', config.AUDIT_KEPT_DAYS, rowsMax),
  },
];

/** A function that deletes as the owner of the tables, for all tenants at once. */
export const byOwner =
  (deletion: string): DeletePart =>
  async (sql, rowsMax) => {
    const [row] = await sql.query<{ deleted: string }>(`SELECT ${deletion}($1) AS deleted`, [
      rowsMax,
    ]);
    return Number(row?.deleted ?? 0);
  };

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
/** A deleted tenant may leave millions of rows. The database has other work in between. */
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
