import { percentileOf, type CallCounts, type CallRow, type ResourceCounts } from '@glovebox/calls';
import { invalid } from '@glovebox/problems';
import { countedRowsMax, type TenantQueue } from '@glovebox/runs';
import type { LiveProcess } from '@glovebox/stores';
import { given, toCallResponse, type CallResponse } from '../calls/calls.dto';
import { queryReadBy } from '../http/request';
import { requireKnown } from '../lists/listing';
import { QueryFilters } from '../lists/query-filters';

/** The length of a bucket in minutes, for each time in hours that an overview may show. */
const bucketMinutes = { '1': 1, '24': 15, '168': 60 } as const;
export type Hours = keyof typeof bucketMinutes;
export const overviewHours = Object.keys(bucketMinutes) as Hours[];

export const overviewResourcesMax = 100;
export const newestFailures = 5;
/** Processes that are shown, and runners. */
export const shownProcessesMax = 1_000;
export const bucketsMax = 168;

const minuteMs = 60_000;

/** Whole buckets. The last one is under way. */
export interface OverviewTime {
  readonly hours: number;
  readonly bucketMinutes: number;
  readonly from: Date;
  readonly to: Date;
}

interface Figures {
  calls: number;
  failed: number;
  p50_ms?: number;
  p95_ms?: number;
}

interface Waiting {
  pending: number;
  held: number;
  oldest_due_at?: string;
}

export interface CountedCalls {
  from: string;
  to: string;
  hours: number;
  bucket_minutes: number;
  totals: Figures;
  resources: (Figures & {
    resource: string;
    proxy_id?: string;
    reactor_id?: string;
    name?: string;
  })[];
  truncated?: true;
  series: { at: string; calls: number; failed: number }[];
}

export interface Overview extends CountedCalls {
  waiting: {
    counted_max: number;
    runs: Waiting & { running: number };
    deliveries: Waiting & { failing: number };
  };
  failures: CallResponse[];
  /** Absent while Redis, where processes tell of themselves, does not answer. */
  processes?: {
    id: string;
    app: string;
    version: string;
    definition_lag: number;
    seen_at: string;
  }[];
  /** Absent like the processes. */
  runners?: { id: string; version: string; level: number }[];
}

export const OverviewHours = queryReadBy((query): Hours => {
  requireKnown(query, ['hours']);
  const errors: Record<string, string[]> = {};
  const hours = new QueryFilters(query, errors).oneOf('hours', overviewHours) ?? '1';
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return hours;
});

export function timeOf(hours: Hours, to = new Date()): OverviewTime {
  const bucketMs = bucketMinutes[hours] * minuteMs;
  const ends = to.getTime() - (to.getTime() % bucketMs) + bucketMs;
  const from = new Date(ends - Number(hours) * 60 * minuteMs);
  return { hours: Number(hours), bucketMinutes: bucketMinutes[hours], from, to };
}

/** Names are those of the proxies and reactors that there are now. */
export function toCountedCalls(
  { resources, buckets, isTruncated }: CallCounts & { readonly isTruncated: boolean },
  { from, to, hours, ...time }: OverviewTime,
  names: ReadonlyMap<string, string>,
): CountedCalls {
  const countsAt = new Map(buckets.map((bucket) => [bucket.at.getTime(), bucket]));
  const bucketMs = time.bucketMinutes * minuteMs;
  const count = (hours * 60) / time.bucketMinutes;
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    hours,
    bucket_minutes: time.bucketMinutes,
    totals: toFigures({
      calls: sumOf(buckets.map(({ calls }) => calls)),
      failed: sumOf(buckets.map(({ failed }) => failed)),
      latencies: (buckets[0]?.latencies ?? []).map((_, at) =>
        sumOf(buckets.map(({ latencies }) => latencies[at] ?? 0)),
      ),
    }),
    resources: resources.map((counts) => ({
      resource: counts.path,
      ...given('proxy_id', counts.proxyId),
      ...given('reactor_id', counts.reactorId),
      ...given('name', names.get(idOf(counts) ?? '') ?? null),
      ...toFigures(counts),
    })),
    ...(isTruncated ? { truncated: true } : {}),
    series: Array.from({ length: count }, (_, nth) => {
      const at = from.getTime() + nth * bucketMs;
      const { calls = 0, failed = 0 } = countsAt.get(at) ?? {};
      return { at: new Date(at).toISOString(), calls, failed };
    }),
  };
}

export const idOf = ({ proxyId, reactorId }: ResourceCounts): string | null => proxyId ?? reactorId;

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

function toFigures({
  calls,
  failed,
  latencies,
}: Pick<ResourceCounts, 'calls' | 'failed' | 'latencies'>): Figures {
  return {
    calls,
    failed,
    ...given('p50_ms', rounded(percentileOf(latencies, 0.5))),
    ...given('p95_ms', rounded(percentileOf(latencies, 0.95))),
  };
}

const rounded = (ms: number | undefined): number | null =>
  ms === undefined ? null : Math.round(ms * 100) / 100;

export function toOverview(
  calls: CountedCalls,
  now: {
    readonly runs: TenantQueue;
    readonly deliveries: TenantQueue;
    readonly failures: readonly CallRow[];
    readonly processes: readonly LiveProcess[] | undefined;
  },
): Overview {
  const { runs, deliveries, failures, processes } = now;
  return {
    ...calls,
    waiting: {
      counted_max: countedRowsMax,
      runs: { ...toWaiting(runs), running: runs.running },
      deliveries: { ...toWaiting(deliveries), failing: deliveries.failing },
    },
    failures: failures.map(toCallResponse),
    ...(processes && {
      processes: processes.map(toProcess).sort(byAppAndId).slice(0, shownProcessesMax),
      runners: runnersOf(processes).slice(0, shownProcessesMax),
    }),
  };
}

const toWaiting = ({ pending, held, oldestDueAt }: TenantQueue): Waiting => ({
  pending,
  held,
  ...given('oldest_due_at', oldestDueAt?.toISOString() ?? null),
});

type Process = NonNullable<Overview['processes']>[number];

/** Where a process runs is the operator's alone. */
const toProcess = ({ id, app, version, behind, at }: LiveProcess): Process => ({
  id,
  app,
  version,
  definition_lag: behind,
  seen_at: new Date(at).toISOString(),
});

const byAppAndId = (one: Process, other: Process): number =>
  one.app.localeCompare(other.app) || one.id.localeCompare(other.id);

/** Several processes are connected to the same runner. */
function runnersOf(processes: readonly LiveProcess[]): NonNullable<Overview['runners']> {
  const told = new Map(processes.flatMap(({ runners }) => runners).map((one) => [one.id, one]));
  return [...told.values()]
    .map(({ id, release, level }) => ({ id, version: release, level }))
    .sort((one, other) => one.id.localeCompare(other.id));
}
