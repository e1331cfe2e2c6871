import type { IncomingMessage } from 'node:http';
import type { Problem } from '@glovebox/problems';
import { describeError } from '@glovebox/service-host';
import type { Room } from './call-shares';
import type { CallerResponse } from '../connection/caller-response';
import type { GatewayContext } from '../context';
import type { Route } from '../connection/route';
import type { CallTrace } from '../observing/tracer';

export type RouteName = Route['name'];

/**
 * What is known of one call: made at its start, filled in on its way, observed at its end by metrics,
 * access log and trace. Holds ids and figures alone, nothing that a caller sent but its trace id.
 */
export interface Call {
  readonly ctx: CallContext;
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
  /** What it takes of all that calls share, given back when both have ended. */
  room: Room | undefined;
}

type CallContext = Pick<GatewayContext, 'headers' | 'metrics' | 'accessLog' | 'tracer' | 'logger'>;

/** How it ended. */
export interface Ending {
  readonly durationMs: number;
  /** Undefined when the caller left before an answer. */
  readonly status: number | undefined;
  /** The caller left before its answer was complete. */
  readonly left: boolean;
}

/** Hot path: one record for each call, and one listener that all of them share. */
export function beginCall(
  ctx: CallContext,
  route: RouteName,
  req: IncomingMessage,
  res: CallerResponse,
): Call {
  const traceId = ctx.headers.traceIdOf(req);
  const call: Call = {
    ctx,
    route,
    method: req.method ?? '',
    startedAt: performance.now(),
    traceId,
    trace: ctx.tracer ? ctx.tracer.begin(ctx.headers.traceparentOf(req), traceId) : null,
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
    room: undefined,
  };
  res.call = call;
  ctx.metrics.begun();
  res.on('close', onClose);
  return call;
}

function onClose(this: CallerResponse): void {
  const { call, exchange } = this;
  this.call = undefined;
  if (call) endCall(call, this);
  exchange?.callerLeft();
}

/** What the call took of all that calls share is given back when its answer and its work have ended. */
export function settleAtEnd(call: Call, room: Room): void {
  if (call.underWay === 0) room.end();
  else call.room = room;
}

export function partEnded(call: Call): void {
  call.underWay -= 1;
  if (call.underWay === 0) call.room?.end();
}

function endCall(call: Call, res: CallerResponse): void {
  partEnded(call);
  const { ctx } = call;
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
