import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Problem } from '@glovebox/problems';
import { describeError } from '@glovebox/service-host';
import type { Release } from '@glovebox/shares';
import type { GatewayContext } from './context';
import type { Route } from './route';
import type { CallTrace } from './tracer';

export type RouteName = Route['name'];

/**
 * What is known of one call: made at its start, filled in on its way, observed at its end by metrics,
 * access log and trace. Holds ids and figures alone, nothing that a caller sent but its trace id.
 */
export interface Call {
  readonly route: RouteName;
  readonly method: string;
  readonly startedAt: number;
  readonly traceId: string;
  /** Null when nobody collects traces. */
  readonly trace: CallTrace | null;
  /** Where a problem stands in the answer. */
  readonly under: 'proxy_error' | undefined;
  tenantId: string | undefined;
  proxyId: string | undefined;
  reactorId: string | undefined;
  destinationHost: string | undefined;
  /** When the destination was asked, and when the head of its answer was there. */
  askedAt: number | undefined;
  answeredAt: number | undefined;
  destinationStatus: number | undefined;
  problem: Problem | undefined;
  /** Its answer and the work for it: a caller that leaves ends only the first. */
  underWay: number;
  readonly releases: Release[];
}

/** How it ended. */
export interface Ending {
  readonly durationMs: number;
  /** Undefined when the caller left before an answer. */
  readonly status: number | undefined;
  /** The caller left before its answer was complete. */
  readonly left: boolean;
}

const calls = new WeakMap<ServerResponse, Call>();

/** Of a response that is under way. */
export function callOf(res: ServerResponse): Call | undefined {
  return calls.get(res);
}

/** Hot path: one record and one listener for each call. */
export function beginCall(
  ctx: GatewayContext,
  route: RouteName,
  req: IncomingMessage,
  res: ServerResponse,
): Call {
  const traceId = ctx.headers.traceIdOf(req);
  const call: Call = {
    route,
    method: req.method ?? '',
    startedAt: performance.now(),
    traceId,
    trace: ctx.tracer ? ctx.tracer.begin(req, traceId) : null,
    under: route === 'proxy' ? 'proxy_error' : undefined,
    tenantId: undefined,
    proxyId: undefined,
    reactorId: undefined,
    destinationHost: undefined,
    askedAt: undefined,
    answeredAt: undefined,
    destinationStatus: undefined,
    problem: undefined,
    underWay: 2,
    releases: [],
  };
  calls.set(res, call);
  ctx.metrics.begun();
  res.once('close', () => endCall(ctx, call, res));
  return call;
}

/** Gives back what the call took from all calls, when its answer and the work for it have ended. */
export function releaseAtEnd(call: Call, release: Release): void {
  if (call.underWay === 0) release();
  else call.releases.push(release);
}

export function partEnded(call: Call): void {
  call.underWay -= 1;
  if (call.underWay > 0) return;
  for (const release of call.releases.splice(0)) release();
}

function endCall(ctx: GatewayContext, call: Call, res: ServerResponse): void {
  partEnded(call);
  const ending = {
    durationMs: performance.now() - call.startedAt,
    status: res.headersSent ? res.statusCode : undefined,
    // Of an upgraded connection the answer is never finished: it has become something else.
    left: !res.writableFinished && res.statusCode !== 101,
  };
  ctx.metrics.ended(call, ending);
  ctx.accessLog?.add(call, ending);
  ctx.tracer?.end(call, ending);
  const { problem, traceId, route } = call;
  if (problem?.code === 'internal_error') {
    ctx.logger.error({ error: describeError(problem), traceId, route }, 'a call failed');
  }
}
