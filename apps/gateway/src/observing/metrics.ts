import type { DefinitionFollower } from '@glovebox/definitions';
import { Counter, Gauge, TalliedHistogram, type Registry } from '@glovebox/service-host';
import type { Call, Ending } from './call';

export interface GatewayMetrics {
  begun(): void;
  ended(call: Call, ending: Ending): void;
  spans(outcome: 'sent' | 'dropped', count: number): void;
}

/** Sources that are read only when metrics are collected. */
interface Observed {
  readonly follower: Followed;
  readonly destinations: { readonly size: number };
}

type Followed = Pick<DefinitionFollower, 'fresh' | 'source' | 'leaseLeftMs'>;

const buckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 210,
];

/** No label names a caller or a destination: their number has no bound. */
export function createMetrics(registry: Registry, observed: Observed): GatewayMetrics {
  const registers = [registry];
  const requests = new TalliedHistogram(
    {
      name: 'glovebox_gateway_request_seconds',
      help: 'Calls, from the last byte of their head to the last byte of the answer',
      labelNames: ['route', 'status'],
      buckets,
    },
    registry,
  );
  const destinations = new TalliedHistogram(
    {
      name: 'glovebox_gateway_destination_seconds',
      help: 'Destinations, from being asked to the head of their answer; none: it did not come',
      labelNames: ['status'],
      buckets,
    },
    registry,
  );
  // An alert about errors has figures before there is any.
  for (const route of ['proxy', 'react', 'management']) requests.tallyOf(route, '5xx');
  destinations.tallyOf('5xx');
  const aborted = new Counter({
    name: 'glovebox_gateway_callers_left_total',
    help: 'Calls whose caller left before the answer was complete',
    labelNames: ['route'],
    registers,
  });
  const spans = new Counter({
    name: 'glovebox_gateway_spans_total',
    help: 'Spans of traces that the collector took, or that were dropped',
    labelNames: ['outcome'],
    registers,
  });
  let inFlight = 0;
  new Gauge({
    name: 'glovebox_gateway_requests_in_flight',
    help: 'Calls under way',
    registers,
    collect() {
      this.set(inFlight);
    },
  });
  observeReplica(registry, observed.follower);
  new Gauge({
    name: 'glovebox_gateway_destinations',
    help: 'Destinations that connections are kept for',
    registers,
    collect() {
      this.set(observed.destinations.size);
    },
  });

  return {
    begun() {
      inFlight += 1;
    },
    ended({ route, askedAt, answeredAt, destinationStatus }, { durationMs, status, left }) {
      inFlight -= 1;
      requests.tallyOf(route, classOf(status)).add(durationMs / 1_000);
      if (left) aborted.inc({ route });
      if (askedAt === undefined) return;
      const until = answeredAt ?? performance.now();
      destinations.tallyOf(classOf(destinationStatus)).add((until - askedAt) / 1_000);
    },
    spans: (outcome, count) => spans.inc({ outcome }, count),
  };
}

const classes = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'];
const classOf = (status = 0): string => classes[Math.floor(status / 100)] ?? 'none';

function observeReplica(registry: Registry, follower: Followed): void {
  const registers = [registry];
  new Gauge({
    name: 'glovebox_gateway_definitions',
    help: 'Definitions in memory; 0 while the lease is over',
    registers,
    collect() {
      this.set(follower.fresh()?.size ?? 0);
    },
  });
  new Gauge({
    name: 'glovebox_gateway_lease_seconds',
    help: 'How long the definitions may still be used without a look at a store, by who said so',
    labelNames: ['source'],
    registers,
    collect() {
      this.reset();
      const { source = 'none', leaseLeftMs } = follower;
      this.set({ source }, leaseLeftMs / 1_000);
    },
  });
}
