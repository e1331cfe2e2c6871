import { Conditions, type Sql } from '@glovebox/database';
import { failedOutcomes } from './call-outcomes';
import { latencyBoundsMs } from './call-summary';

interface Counts {
  readonly calls: number;
  readonly failed: number;
  /** The calls of each class of durations. */
  readonly latencies: readonly number[];
}

export interface ResourceCounts extends Counts {
  readonly path: string;
  readonly proxyId: string | null;
  readonly reactorId: string | null;
}

interface BucketCounts extends Counts {
  readonly at: Date;
}

export interface CallCounts {
  /** Those with the most failures, then with the most calls. */
  readonly resources: readonly ResourceCounts[];
  /** The buckets that have calls. */
  readonly buckets: readonly BucketCounts[];
}

type Row = Counts &
  ({ readonly at: null; readonly path: string } & Pick<ResourceCounts, 'proxyId' | 'reactorId'> | {
    readonly at: Date;
  });

const sums = Array.from(
  { length: latencyBoundsMs.length + 1 },
  (_, at) => `sum(latencies[${at + 1}])`,
);

/** Adds up the counts of a time by resource and by bucket, in one reading of their rows. */
export async function countCalls(
  sql: Sql,
  tenantId: string,
  time: { readonly from: Date; readonly to: Date; readonly bucketMinutes: number },
  resourcesMax: number,
): Promise<CallCounts> {
  const selected = new Conditions().add('tenant_id =', tenantId).addRange(time);
  const bucket = selected.parameter(`${time.bucketMinutes} minutes`);
  const failed = selected.parameter(failedOutcomes);
  const limit = selected.parameter(resourcesMax);
  const rows = await sql.query<Row>(
    `WITH counted AS MATERIALIZED (
       SELECT at, path, proxy_id AS "proxyId", reactor_id AS "reactorId",
         sum(calls)::float8 AS calls,
         coalesce(sum(calls) FILTER (WHERE outcome = ANY (${failed})), 0)::float8 AS failed,
         ARRAY[${sums.join(', ')}]::float8[] AS latencies
       FROM (
         SELECT *, date_bin(${bucket}::interval, minute, 'epoch') AS at FROM call_summary
         WHERE ${selected}) counts
       GROUP BY GROUPING SETS ((path, proxy_id, reactor_id), (at)))
     (SELECT * FROM counted WHERE at IS NULL
      ORDER BY failed DESC, calls DESC, path, "proxyId", "reactorId" LIMIT ${limit})
     UNION ALL
     (SELECT * FROM counted WHERE at IS NOT NULL ORDER BY at)`,
    selected.values,
  );
  return {
    resources: rows.filter((row) => row.at === null),
    buckets: rows.filter((row) => row.at !== null),
  };
}

/** The duration that a share of the calls did not exceed. Undefined: there were no calls. */
export function percentileOf(latencies: readonly number[], share: number): number | undefined {
  const total = latencies.reduce((sum, calls) => sum + calls, 0);
  if (total === 0) return undefined;
  let before = 0;
  const at = latencies.findIndex((calls) => (before += calls) >= share * total);
  const calls = latencies[at] ?? 0;
  const lower = latencyBoundsMs[at - 1] ?? 0;
  // The last class has no upper bound.
  const upper = latencyBoundsMs[at] ?? lower;
  return lower + ((upper - lower) * (share * total - (before - calls))) / calls;
}
