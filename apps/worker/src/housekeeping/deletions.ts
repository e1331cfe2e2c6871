import type { Sql } from '@glovebox/database';

/** Workers of the release before leave ended rows in the queues. They are kept this long. */
const endedKeptMs = 24 * 60 * 60 * 1_000;

/** Expired tokens are out of use already. */
export const deleteExpiredTokens = (sql: Sql, rowsMax: number): Promise<number> =>
  deleteBy(sql, 'delete_expired_tokens', rowsMax);

/** Stored answers that show tokens which are gone. */
export const eraseGoneAnswers = (sql: Sql, rowsMax: number): Promise<number> =>
  deleteBy(sql, 'erase_gone_answers', rowsMax);

/**
 * The tokens, runs and webhooks of deleted tenants. Nothing opens them: their data keys went with
 * the tenant. A call that was under way may have made a new data key; it goes here too.
 */
export const deleteRemainsOfTenants = (sql: Sql, rowsMax: number): Promise<number> =>
  deleteBy(sql, 'delete_remains_of_tenants', rowsMax);

/** What deleted tenants leave in the logs of runs and webhooks. */
export const deleteLogsOfTenants = (sql: Sql, rowsMax: number): Promise<number> =>
  deleteBy(sql, 'delete_logs_of_tenants', rowsMax);

/** Idempotency keys that were used more than 24 hours ago. */
export const deleteOldIdempotencyKeys = (sql: Sql, rowsMax: number): Promise<number> =>
  deleteBy(sql, 'delete_old_idempotency_keys', rowsMax);

export const deleteEndedRuns = (sql: Sql, rowsMax: number): Promise<number> =>
  deleteEnded(sql, { table: 'reactor_runs', endedAt: 'finished_at', rowsMax });

/** An ended delivery has no next attempt: that column holds its end. */
export const deleteEndedDeliveries = (sql: Sql, rowsMax: number): Promise<number> =>
  deleteEnded(sql, {
    table: 'webhook_deliveries',
    condition: `status <> 'pending'`,
    endedAt: 'next_attempt_at',
    rowsMax,
  });

/** Paths of webhooks that no attempt has gone to for a day. */
export const forgetFailingPaths = async (sql: Sql, rowsMax: number): Promise<number> => {
  const forgotten = await sql.query(
    `DELETE FROM failing_webhook_paths WHERE (tenant_id, path) IN (
       SELECT tenant_id, path FROM failing_webhook_paths
       WHERE failed_at < now() - interval '1 day'
       ORDER BY failed_at LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING path`,
    [rowsMax],
  );
  return forgotten.length;
};

/** The results of ended webhooks, a day later. The rest of the row stays in the log. */
export const eraseEndedBodies = (sql: Sql, rowsMax: number): Promise<number> =>
  deleteBy(sql, 'erase_ended_bodies', rowsMax);

/** Makes the deletion of what a log keeps no longer. A whole partition counts as a part. */
export const dropOldRows =
  (log: 'ended_runs' | 'ended_deliveries' | 'audit_log', keptDays: number) =>
  async (sql: Sql, rowsMax: number): Promise<number> => {
    const [row] = await sql.query<{ dropped: string }>(
      'SELECT drop_old_rows($1, $2, $3) AS dropped',
      [log, keptDays, rowsMax],
    );
    return Number(row?.dropped ?? 0);
  };

/** Makes the partitions of the coming days. A row without one is stored in a slower place. */
export async function makePartitions(sql: Sql): Promise<void> {
  await sql.query('SELECT make_partitions()');
}

/** These functions run as the owner of the tables, for all tenants at once. */
async function deleteBy(sql: Sql, deletion: string, rowsMax: number): Promise<number> {
  const [row] = await sql.query<{ deleted: string }>(`SELECT ${deletion}($1) AS deleted`, [
    rowsMax,
  ]);
  return Number(row?.deleted ?? 0);
}

interface Ended {
  readonly table: 'reactor_runs' | 'webhook_deliveries';
  readonly condition?: string;
  readonly endedAt: 'finished_at' | 'next_attempt_at';
  readonly rowsMax: number;
}

async function deleteEnded(
  sql: Sql,
  { table, condition = 'true', endedAt, rowsMax }: Ended,
): Promise<number> {
  const deleted = await sql.query(
    `DELETE FROM ${table} WHERE id IN (
       SELECT id FROM ${table}
       WHERE ${condition} AND ${endedAt} < now() - $1 * interval '1 millisecond'
       ORDER BY ${endedAt} LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING id`,
    [endedKeptMs, rowsMax],
  );
  return deleted.length;
}
