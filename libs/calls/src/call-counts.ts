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
  /** Those with the most failures first, then those with the most calls. */
  readonly resources: readonly ResourceCounts[];
  /** The buckets that have calls. */
  readonly buckets: readonly BucketCounts[];
}

type Row = Counts &
  (
    | ({ readonly at: null; readonly path: string } & Pick<ResourceCounts, 'proxyId' | 'reactorId'>)
    | {
        readonly at: Date;
      }
  );

const sums = Array.from(
  { length: latencyBoundsMs.length + 1 },
  (_, at) => `sum(unpacked[${at + 1}])`,
);

/** Minutes that one statement adds up: it must be done within the time-out of statements. */
const partMinutes = 6 * 60;
/** The same where the database has added them up already. */
const partBuckets = 24;
/** Resources of a part. Of more, those with the fewest failures and calls are in the buckets alone. */
const partResourcesMax = 5_000;

/** Buckets that the database adds up when counts are stored. */
const addedUpMinutes = [15, 60];

/**
 * Adds up the counts of a time by resource and by bucket, one part after the other. The time begins
 * with a bucket, and buckets divide a part.
 */
export async function countCalls(
  sql: Sql,
  tenantId: string,
  { from, to, bucketMinutes }: { readonly from: Date; readonly to: Date; bucketMinutes: number },
): Promise<CallCounts> {
  const resources = new Map<string, ResourceCounts>();
  const buckets: BucketCounts[] = [];
  const since = await addedUpSince(sql, bucketMinutes);
  for (const part of partsOf(from.getTime(), to.getTime(), { since, bucketMinutes })) {
    for (const row of await countPart(sql, tenantId, { ...part, bucketMinutes })) {
      if (row.at !== null) {
        buckets.push(row);
        continue;
      }
      const name = [row.path, row.proxyId, row.reactorId].join(' ');
      const known = resources.get(name);
      resources.set(name, known ? { ...known, ...together(known, row) } : row);
    }
  }
  return {
    resources: [...resources.values()].sort(
      (one, other) => other.failed - one.failed || other.calls - one.calls,
    ),
    buckets,
  };
}

const together = (one: Counts, other: Counts): Counts => ({
  calls: one.calls + other.calls,
  failed: one.failed + other.failed,
  latencies: one.latencies.map((calls, at) => calls + (other.latencies[at] ?? 0)),
});

/** What was counted before has no buckets. */
async function addedUpSince(sql: Sql, bucketMinutes: number): Promise<number> {
  if (!addedUpMinutes.includes(bucketMinutes)) return Infinity;
  const [row] = await sql.query<{ ms: number }>(
    'SELECT extract(epoch FROM since)::float8 * 1000 AS ms FROM call_buckets_since',
  );
  return row?.ms ?? Infinity;
}

interface Part {
  readonly from: Date;
  readonly to: Date;
  readonly source: 'minutes' | 'buckets';
}

function partsOf(
  from: number,
  to: number,
  { since, bucketMinutes }: { readonly since: number; readonly bucketMinutes: number },
): Part[] {
  const parts: Part[] = [];
  for (let begins = from; begins <= to;) {
    const isBefore = begins < since;
    const minutes = isBefore ? partMinutes : partBuckets * bucketMinutes;
    const end = Math.min(begins + minutes * 60_000, to + 1, isBefore ? since : Infinity);
    const source = isBefore ? 'minutes' : 'buckets';
    parts.push({ from: new Date(begins), to: new Date(end - 1), source });
    begins = end;
  }
  return parts;
}

/** Reads each row once. To unpack its list takes longer than to add it up: OFFSET 0 has it done once. */
function countPart(
  sql: Sql,
  tenantId: string,
  { bucketMinutes, source, ...time }: Part & { readonly bucketMinutes: number },
): Promise<Row[]> {
  const selected = new Conditions().add('tenant_id =', tenantId);
  let counts: string;
  if (source === 'minutes') {
    const bucket = selected.addRange(time).parameter(`${bucketMinutes} minutes`);
    counts = `date_bin(${bucket}::interval, minute, 'epoch') AS at FROM call_summary`;
  } else {
    selected.add('minutes =', bucketMinutes).add('starts >=', time.from).add('starts <=', time.to);
    counts = 'starts AS at FROM call_buckets';
  }
  const failed = selected.parameter(failedOutcomes);
  return sql.query<Row>(
    `WITH counted AS MATERIALIZED (
       SELECT at, path, proxy_id AS "proxyId", reactor_id AS "reactorId",
         sum(calls)::float8 AS calls,
         coalesce(sum(calls) FILTER (WHERE outcome = ANY (${failed})), 0)::float8 AS failed,
         ARRAY[${sums.join(', ')}]::float8[] AS latencies
       FROM (
         SELECT path, proxy_id, reactor_id, outcome, calls, latencies || '{}' AS unpacked, ${counts}
         WHERE ${selected} OFFSET 0) counts
       GROUP BY GROUPING SETS ((path, proxy_id, reactor_id), (at)))
     (SELECT * FROM counted WHERE at IS NULL
      ORDER BY failed DESC, calls DESC LIMIT ${partResourcesMax})
     UNION ALL
     (SELECT * FROM counted WHERE at IS NOT NULL)`,
    selected.values,
  );
}

/** Forgets buckets that no overview shows any more, and those of deleted tenants. */
export async function dropOldBuckets(sql: Sql, keptDays: number, rowsMax: number): Promise<number> {
  const [row] = await sql.query<{ deleted: string }>(
    'SELECT delete_old_call_buckets($1, $2) AS deleted',
    [keptDays, rowsMax],
  );
  return Number(row?.deleted ?? 0);
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
