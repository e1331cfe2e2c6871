import type { IncomingMessage, ServerResponse } from 'node:http';
import { hopHeader } from '@glovebox/egress';
import { Problem } from '@glovebox/problems';
import { traceHeader } from '@glovebox/service-host';
import { sendProblem } from './answers';
import type { Call } from './call';
import { admitCall, type Room } from './call-shares';
import { findProxy, type InvokedProxy } from './caller';
import type { GatewayContext } from './context';
import { Decision } from './decision';
import { destinationHostOf, destinationOf } from './destination-url';
import { asSent, fillIn } from './fill-in';
import { forward } from './forward';
import { forwardedHeaders } from './forwarded-headers';
import { takeProxyKey } from './proxy-key';
import { admitBody, hasBody } from './intake';
import { passTraceOn } from './tracer';
import { collect } from './transforms/collect';
import { readingOf, readWhole } from './transforms/content';
import { askForWhole, readsAnswer, sendMade, transformAnswer } from './transforms/transform-answer';
import {
  changesRequest,
  readsRequest,
  sparedBy,
  transformRequest,
  type Prepared,
} from './transforms/transform-request';
import { isUpgrade } from './upgrade';

export const firstByteMs = 30_000;

/**
 * A call of a proxy, from the first header to the last byte: proxy by key, who calls, expressions,
 * transforms, forward. What decides it is asked anew before data is opened and before bytes leave.
 * Hot path: without an expression and a transform nothing is parsed and no store is asked.
 */
export async function handleProxy(
  ctx: GatewayContext,
  req: IncomingMessage,
  res: ServerResponse,
  call: Call,
): Promise<void> {
  try {
    const { suffix, query, key } = readTarget(ctx, req);
    const decision = await Decision.of(ctx.follower, (definitions) =>
      findProxy(ctx, req, definitions, key),
    );
    const { proxy, caller } = decision;
    call.tenantId = proxy.tenantId;
    call.proxyId = proxy.id ?? undefined;
    call.destinationHost = destinationHostOf(proxy.destinationUrl);
    const callerId = caller?.applicationId ?? proxy.id ?? '';
    const room = admitCall(ctx, res, call, { tenantId: proxy.tenantId, caller: callerId });
    if (isUpgrade(req)) refuseUpgrade(proxy);
    const prepared = await prepare(ctx, { req, res, decision, call, room, suffix, query });
    const transforming = { res, call, room, decision, secrets: prepared.secrets };
    const outgoing = changesRequest(proxy)
      ? await transformRequest(ctx, transforming, req, prepared)
      : prepared;
    if ('answer' in outgoing) return sendMade(outgoing.answer, transforming);
    if (Buffer.isBuffer(outgoing.body)) {
      room.keepOnly(outgoing.body.length + (prepared.whole?.length ?? 0));
    }
    passTraceOn(outgoing.headers, call);
    // Behind all that callers and transforms say.
    outgoing.headers.push(hopHeader, ctx.hopMarker);
    const destination = destinationOf(proxy.destinationUrl, outgoing.suffix, outgoing.query);
    await decision.confirm();
    const carrier = ctx.destinations.of(proxy.tenantId, destination.origin, proxy.tls);
    const request = {
      decision,
      method: req.method ?? 'GET',
      path: destination.path,
      headers: outgoing.headers,
      body: outgoing.body,
      firstByteMs: proxy.timeoutMs ?? firstByteMs,
      bodyIdleMs: ctx.config.BODY_IDLE_MS,
      ...(isUpgrade(req) ? { tunnels: ctx.tunnels } : {}),
    };
    if (readsAnswer(proxy)) {
      const whole = { ...request, headers: askForWhole(request.headers) };
      const answer = await collect(carrier, whole, { res, ours: ctx.headers, call, room });
      if (answer) sendMade(await transformAnswer(ctx, transforming, answer), transforming);
      return;
    }
    await forward(carrier, request, {
      res,
      headers: [traceHeader, call.traceId],
      ours: ctx.headers,
      call,
      steps: proxy.responseSteps,
    });
  } catch (thrown) {
    sendProblem(req, res, thrown, call);
  }
}

interface Target {
  readonly suffix: string;
  readonly query: string;
  readonly key: string | undefined;
}

function readTarget(ctx: GatewayContext, req: IncomingMessage): Target {
  const url = req.url ?? '';
  const queryAt = url.indexOf('?');
  const suffix = url.slice('/proxy'.length, queryAt < 0 ? undefined : queryAt);
  const inHeader = ctx.headers.read(req, 'proxy-key');
  if (queryAt < 0) return { suffix, query: '', key: inHeader };
  const { key: inQuery, rest } = takeProxyKey(ctx.headers, url.slice(queryAt + 1));
  if (inHeader !== undefined && inQuery !== undefined && inHeader !== inQuery) {
    throw new Problem('invalid_request', {
      detail: 'The proxy keys of header and query are different.',
    });
  }
  return { suffix, query: rest, key: inHeader ?? inQuery };
}

/** What a transform would have to see of an upgraded connection, it cannot see. */
function refuseUpgrade(proxy: InvokedProxy): void {
  const { requestTransform, responseTransform, requestSteps, responseSteps } = proxy;
  const steps = requestSteps.length + responseSteps.length;
  if (!requestTransform && !responseTransform && steps === 0) return;
  throw new Problem('invalid_request', {
    detail: 'A proxy with transforms does not carry upgraded connections.',
  });
}

/** The request as the destination shall see it; expressions of an anonymous caller stay as they are. */
async function prepare(
  ctx: GatewayContext,
  asked: {
    req: IncomingMessage;
    res: ServerResponse;
    decision: Decision;
    call: Call;
    room: Room;
    suffix: string;
    query: string;
  },
): Promise<Prepared> {
  const { req, res, decision, call, room, suffix, query } = asked;
  const { proxy, caller } = decision;
  const head = { suffix, query, headers: forwardedHeaders(req.rawHeaders, ctx.headers) };
  const whole = await readForTransform(req, res, proxy, room);
  const isFilledIn = caller !== null && proxy.detokenize;
  const spared = isFilledIn && whole ? await sparedBy(proxy, head.headers, whole, room) : undefined;
  const received = { whole, spared };
  const use = {
    tenantId: proxy.tenantId,
    actorId: caller?.applicationId ?? null,
    operation: 'proxy.invoke',
    entityType: 'proxy',
    entityId: proxy.id ?? 'ephemeral',
    traceId: call.traceId,
    destinationHost: destinationHostOf(proxy.destinationUrl),
  };
  if (!isFilledIn) return { ...asSent(req, head, whole), ...received, secrets: [] };
  const scanned = spared ? Buffer.from(spared.text) : whole;
  const filled = await fillIn(ctx, req, head, { decision, caller, use, room, whole: scanned });
  return { ...filled, ...received };
}

/** A body that is taken apart is there before anything is made of it; any other comes as it comes. */
async function readForTransform(
  req: IncomingMessage,
  res: ServerResponse,
  proxy: InvokedProxy,
  room: Room,
): Promise<Buffer | undefined> {
  if (!hasBody(req)) return undefined;
  const isRead = readsRequest(proxy);
  if (isRead) readingOf(req.rawHeaders);
  admitBody(req, res);
  return isRead ? readWhole(req, room) : undefined;
}
