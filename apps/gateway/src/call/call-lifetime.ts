import type { IncomingMessage } from 'node:http';
import { unknownPath, type CallLog } from '@glovebox/calls';
import { describeError, type Logger } from '@glovebox/service-host';
import type { ServiceHeaders } from '@glovebox/wire';
import { CallerRequest } from '../connection/caller-request';
import type { CallerResponse } from '../connection/caller-response';
import type { AccessLog } from '../observing/access-log';
import type { FailureLog } from '../observing/failure-log';
import type { Call, Ending, RouteName } from '../observing/call';
import type { GatewayMetrics } from '../observing/metrics';
import type { Tracer } from '../observing/tracer';

interface CallContext {
  readonly headers: ServiceHeaders;
  readonly metrics: GatewayMetrics;
  readonly callLog: CallLog;
  readonly accessLog: AccessLog | null;
  readonly failureLog: FailureLog | null;
  readonly tracer: Tracer | null;
  readonly logger: Logger;
}

/** Hot path: makes one record per call, with one listener that all calls share. */
export function beginCall(
  ctx: CallContext,
  route: RouteName,
  req: IncomingMessage,
  res: CallerResponse,
): Call {
  const traceId = ctx.headers.traceIdOf(req);
  const call: Call = {
    observers: ctx,
    route,
    method: req.method ?? '',
    startedAt: performance.now(),
    traceId,
    trace: ctx.tracer ? ctx.tracer.begin(ctx.headers.traceparentOf(req), traceId) : null,
    problemMember: route === 'proxy' || route === 'forward' ? 'proxy_error' : undefined,
    isKeyed: false,
    isCounted: false,
    tenantId: undefined,
    applicationId: undefined,
    proxyId: undefined,
    reactorId: undefined,
    destinationHost: undefined,
    decidedAt: undefined,
    askedAt: undefined,
    answeredAt: undefined,
    destinationStatus: undefined,
    problem: undefined,
    requestBytes: undefined,
    answerBytes: undefined,
    tokenIds: undefined,
    runId: undefined,
    requestRunId: undefined,
    responseRunId: undefined,
    isPassedOn: false,
    capture: undefined,
    putIn: undefined,
    originHeaders: undefined,
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
  // Node 24 reports the end of an answer whose turn never came a second time.
  if (!call) return;
  this.call = undefined;
  endCall(call, this);
  exchange?.callerLeft();
}

/** Gives the call's room back when its answer and its work have both ended. */
export function settleAtEnd(call: Call, room: { end(): void }): void {
  if (call.underWay === 0) room.end();
  else call.room = room;
}

export function partEnded(call: Call): void {
  call.underWay -= 1;
  if (call.underWay === 0) call.room?.end();
}

/** The management API logs its own calls, by their operations. */
const loggedPaths: Readonly<Partial<Record<RouteName, string>>> = {
  proxy: '/proxy',
  forward: 'forward',
  react: '/reactors/{id}/react',
  management: unknownPath,
  dry_run: unknownPath,
};

function bodyBytesOf(req: IncomingMessage): number | undefined {
  const declared = req.headers['content-length'];
  if (declared !== undefined) return Number(declared);
  return req instanceof CallerRequest && req.bodyBytes > 0 ? req.bodyBytes : undefined;
}

/** Node never finishes the answer of a connection that has become a tunnel. */
const hasBecomeTunnel = ({ req, headersSent, statusCode }: CallerResponse): boolean =>
  statusCode === 101 || (req.method === 'CONNECT' && headersSent && statusCode === 200);

function endCall(call: Call, res: CallerResponse): void {
  partEnded(call);
  const { metrics, callLog, accessLog, failureLog, tracer, logger } = call.observers;
  const ending: Ending = {
    durationMs: performance.now() - call.startedAt,
    status: res.headersSent ? res.statusCode : undefined,
    left: !res.writableFinished && !hasBecomeTunnel(res),
  };
  metrics.ended(call, ending);
  const path = loggedPaths[call.route];
  if (path !== undefined && !call.isPassedOn) {
    call.requestBytes = bodyBytesOf(res.req);
    callLog.add(path, call, ending);
  }
  call.capture?.end(call, ending);
  accessLog?.add(call, ending);
  failureLog?.add(call);
  tracer?.end(call, ending);
  const { problem, traceId, route } = call;
  if (problem?.code === 'internal_error') {
    logger.error({ error: describeError(problem), traceId, route }, 'a call failed');
  }
}
