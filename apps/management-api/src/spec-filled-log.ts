import type { Sql } from '@glovebox/database';

const dayMs = 24 * 60 * 60 * 1_000;

/** The end of an `insert`: its moments of the day that begins at $2. */
export const moments = `generate_series(1, $3) nth, LATERAL (
  SELECT $2::timestamptz + nth * interval '1 day' / ($3 + 1) AS moment) m`;

/** An id of a moment. */
export const idOf = `overlay(lowest_id_at(moment)::text PLACING right(gen_random_uuid()::text, 21) FROM 16)::uuid`;

/** Makes a partition for each of the days, and fills them evenly. In parts, for their time limit. */
export async function fillLog(
  { owner, admin }: { readonly owner: Sql; readonly admin: Sql },
  log: string,
  insert: string,
  filled: {
    readonly tenantId: string;
    readonly rows: number;
    readonly days: number;
    readonly firstDaysAgo: number;
  },
): Promise<void> {
  const { tenantId, rows, days, firstDaysAgo } = filled;
  const first = (Math.floor(Date.now() / dayMs) - firstDaysAgo) * dayMs;
  for (let day = 0; day < days; day += 1) {
    const starts = new Date(first + day * dayMs);
    await owner.query(
      `SELECT make_partition($1, $2, $3)
       WHERE NOT EXISTS (SELECT FROM log_partitions WHERE log = $1 AND ends_at = $3)`,
      [log, starts, new Date(starts.getTime() + dayMs)],
    );
    await admin.query(insert, [tenantId, starts, Math.ceil(rows / days)]);
  }
  await admin.query(`VACUUM ANALYZE ${log}`);
}
