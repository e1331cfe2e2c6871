import type { IncomingMessage } from 'node:http';
import type { Principal } from '@glovebox/access';
import { Decision, type DefinitionSnapshot } from '@glovebox/definitions';
import { hopHeader } from '@glovebox/egress';
import { Problem } from '@glovebox/problems';
import { elsewhere, Reach, type Use } from '@glovebox/vault';
import { traceHeader } from '@glovebox/wire';
import { admitCall, type Room } from '../call/call-shares';
import {
  findProxy,
  proxyOfKey,
  toldTo,
  type InvokedProxy,
  type ProxyCall,
  type ProxyDecision,
} from '../call/caller';
import { isUpgrade, type CallerRequest } from '../connection/caller-request';
import type { CallerResponse } from '../connection/caller-response';
import { forwardedHeaders } from '../connection/forwarded-headers';
import { admitBody, hasBody } from '../connection/intake';
import type { GatewayContext } from '../context';
import type { Call } from '../observing/call';
import { passTraceOn } from '../observing/tracer';
import { destinationHostOf, destinationOf, goingTo } from './destination-url';
import { asSent, fillIn, mustBeScanned, type RequestHead } from './fill-in';
import { forward } from './forward';
import { takeProxyKey } from './proxy-key';
import { PutIn } from './scrub/put-in';
import { askForPlain } from './scrub/scrubbed-answer';
import { appenderOf, mayAppend, openAppended } from './transforms/appended-values';
import { collect } from './transforms/collect';
import { bodyFormatOf, readWhole } from './transforms/content';
import type { Transforming } from './transforms/run-transform';
import { readsAnswer, sendMade, transformAnswer } from './transforms/transform-answer';
import {
  changesRequest,
  needsWholeRequest,
  readsRequest,
  sparedBy,
  transformRequest,
  type Prepared,
} from './transforms/transform-request';

const firstByteMs = 30_000;

/** Handles a call of `/proxy`. */
export async function handleProxy(
  ctx: GatewayContext,
  req: CallerRequest,
  res: CallerResponse,
  call: Call,
): Promise<void> {
  const { suffix, query, key } = readTarget(ctx, req);
  const definitions = ctx.follower.fresh() ?? (await ctx.follower.current());
  if (req.method === 'OPTIONS' && answersPreflight(ctx, req, res, definitions, key, call)) return;
  const find = (now: DefinitionSnapshot): ProxyCall => findProxy(ctx, req, now, key, call);
  return callProxy(ctx, { req, res, call, suffix, query, definitions, find });
}

/** A request whose proxy and caller can be found. */
interface AskedRequest {
  readonly req: CallerRequest;
  readonly res: CallerResponse;
  readonly call: Call;
  /** The path behind that of the destination. */
  readonly suffix: string;
  readonly query: string;
  readonly definitions: DefinitionSnapshot;
  find(now: DefinitionSnapshot): ProxyCall;
  /** Judges the path once expressions have changed it. */
  refusePath?(proxy: InvokedProxy, path: string): void;
}

/**
 * Handles a call of a proxy, from the first header to the last byte: proxy and caller, expressions,
 * forward. The decision is checked again before data is opened and before bytes leave. Hot path: if
 * nothing has to be read or looked up, only the answer is awaited.
 */
export async function callProxy(
  ctx: GatewayContext,
  { req, res, call, suffix, query, definitions, find, refusePath }: AskedRequest,
): Promise<void> {
  const decision = new Decision(ctx.follower, definitions, {
    find: (now) => withAppender(now, find(now)),
    parts: ['proxy', 'caller', 'appender'],
  });
  const { proxy, caller } = decision.decided;
  call.tenantId = proxy.tenantId;
  call.proxyId = proxy.id ?? undefined;
  call.destinationHost = destinationHostOf(proxy.destinationUrl);
  const callerId = caller?.actorId ?? proxy.id ?? '';
  const room = admitCall(ctx, res, call, { tenantId: proxy.tenantId, caller: callerId });
  if (isUpgrade(req)) refuseUpgrade(proxy);
  if (proxy.scrub) call.putIn = new PutIn();
  const head = { suffix, query, headers: forwardedHeaders(req.rawHeaders, ctx.headers) };
  const reach = new Reach();
  const received = { req, res, decision, call, room, head, reach };
  ctx.captures.begin(definitions, received);
  const filled = goesAsItIs(received) ? passedThrough(req, head) : await prepare(ctx, received);
  if (filled.suffix !== suffix) refusePath?.(proxy, filled.suffix);
  const prepared = mayAppend(proxy) ? await withAppended(ctx, received, filled) : filled;
  const changed = changesRequest(proxy)
    ? await transformRequest(ctx, transformingOf(received, prepared), req, prepared)
    : prepared;
  if ('answer' in changed) return sendMade(ctx, changed.answer, received);
  const outgoing = (await prepared.appended?.sign(changed)) ?? changed;
  if (Buffer.isBuffer(outgoing.body)) {
    room.keepOnly(outgoing.body.length + (prepared.whole?.length ?? 0));
  }
  const body = call.capture ? call.capture.sent(outgoing) : outgoing.body;
  const search = call.putIn && (await call.putIn.searchIn(room));
  const lines = search ? askForPlain(outgoing.headers) : outgoing.headers;
  passTraceOn(lines, call);
  // Added last, after the headers of callers and transforms.
  lines.push(hopHeader, ctx.hopMarker);
  const url = destinationOf(proxy.destinationUrl, outgoing.suffix, outgoing.query);
  if (!reach.allows(url)) await refuseElsewhere(ctx, received);
  if (!decision.isConfirmed()) await decision.confirm();
  const destination = ctx.destinations.find(proxy.tenantId, url.origin, proxy.tls);
  const request = {
    decision,
    method: req.method ?? 'GET',
    host: url.host,
    target: url.target,
    headers: lines,
    body,
    firstByteMs: proxy.timeoutMs ?? firstByteMs,
    bodyIdleMs: ctx.config.BODY_IDLE_MS,
    tunnels: isUpgrade(req) ? ctx.tunnels : null,
  };
  if (!readsAnswer(proxy)) {
    const headers = [traceHeader, call.traceId];
    const steps = proxy.responseSteps;
    const answer = { res, headers, ours: ctx.headers, call, steps, room, search };
    await forward(destination, request, answer);
    return;
  }
  const answer = await collect(destination, request, { res, ours: ctx.headers, call, room });
  if (!answer) return;
  const transforming = transformingOf(received, prepared);
  await sendMade(ctx, await transformAnswer(ctx, transforming, answer), received);
}

const transformingOf = (
  { res, call, room, decision, reach }: ReceivedRequest,
  { opened, appended }: Prepared,
): Transforming => ({ res, call, room, decision, reach, opened, appended });

/** Hot path: adds nothing to what was found unless steps put values in. */
function withAppender(now: DefinitionSnapshot, found: ProxyCall): ProxyCall {
  const appender = appenderOf(now, found.proxy);
  return appender ? { ...found, appender } : found;
}

async function withAppended(
  ctx: GatewayContext,
  received: ReceivedRequest,
  prepared: Prepared,
): Promise<Prepared> {
  const appended = await openAppended(ctx, received, (actorId) => useBy(received, actorId));
  if (!appended) return prepared;
  return { ...prepared, appended, opened: new Map([...prepared.opened, ...appended.opened]) };
}

/** False where the preflight is the destination's to answer, or is none. */
function answersPreflight(
  ctx: GatewayContext,
  req: CallerRequest,
  res: CallerResponse,
  definitions: DefinitionSnapshot,
  key: string | undefined,
  call: Call,
): boolean {
  const proxy = proxyOfKey(ctx, definitions, key);
  return ctx.pages.preflightOfProxy(req, res, definitions, proxy, call);
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
      detail: 'The proxy keys in header and query differ.',
    });
  }
  return { suffix, query: rest, key: inHeader ?? inQuery };
}

/** A transform cannot see the messages of an upgraded connection. */
function refuseUpgrade(proxy: InvokedProxy): void {
  const { requestTransform, responseTransform, requestSteps, responseSteps, scrub } = proxy;
  const steps = requestSteps.length + responseSteps.length;
  if (!requestTransform && !responseTransform && steps === 0 && !scrub) return;
  throw new Problem('invalid_request', {
    detail: 'A proxy with transforms or `scrub` does not carry upgraded connections.',
  });
}

/** A request to `/proxy`, with its place and what was decided about it. */
export interface ReceivedRequest {
  readonly req: CallerRequest;
  readonly res: CallerResponse;
  readonly decision: ProxyDecision;
  readonly call: Call;
  readonly room: Room;
  readonly head: RequestHead;
  /** Where the values of the call may go. */
  readonly reach: Reach;
  /** Nothing leaves, and what was put in is not shown. */
  readonly isDry?: boolean;
}

/**
 * Refuses a place that the data of the call may not go to, and records that. Without a caller, only
 * the application of the proxy has opened any.
 */
export async function refuseElsewhere(
  ctx: Pick<GatewayContext, 'vault'>,
  received: ReceivedRequest,
): Promise<never> {
  const { tokenIds } = received.reach;
  const { caller, proxy } = received.decision.decided;
  const use = useBy(received, caller?.actorId ?? proxy.applicationId);
  await ctx.vault.recordElsewhere(use, tokenIds);
  throw toldTo(caller, elsewhere(tokenIds));
}

/** True when the request needs no expressions replaced and no transform. */
function goesAsItIs({ req, res, decision, head }: ReceivedRequest): boolean {
  const { proxy, caller } = decision.decided;
  if (hasBody(req)) {
    if (needsWholeRequest(proxy)) return false;
    admitBody(req, res);
  }
  return !isFilledIn(proxy, caller) || !mustBeScanned(req, head);
}

/** Expressions of an anonymous caller stay as they are. */
const isFilledIn = (proxy: InvokedProxy, caller: Principal | null): caller is Principal =>
  caller !== null && proxy.detokenize;

const nothing: Prepared['opened'] = new Map();

function passedThrough(req: CallerRequest, head: RequestHead): Prepared {
  const { suffix, query, headers, body } = asSent(req, head);
  return { suffix, query, headers, body, whole: undefined, spared: undefined, opened: nothing };
}

/** Makes the request that the destination would get if no transform changed it. */
async function prepare(ctx: GatewayContext, received: ReceivedRequest): Promise<Prepared> {
  const { req, res, decision, room } = received;
  const { proxy } = decision.decided;
  // Not awaited where there is nothing to read: a small body must be asked for before it comes.
  const isRead = hasBody(req) && needsWholeRequest(proxy);
  if (!isRead) return prepareWhole(ctx, received, undefined);
  if (readsRequest(proxy)) bodyFormatOf(req.rawHeaders);
  admitBody(req, res);
  return prepareWhole(ctx, received, await readWhole(req, res, room));
}

/** `whole`: the body, where it was read. */
export async function prepareWhole(
  ctx: GatewayContext,
  received: ReceivedRequest,
  whole: Buffer | undefined,
): Promise<Prepared> {
  const { req, res, decision, call, room, head, reach, isDry = false } = received;
  const { proxy, caller } = decision.decided;
  if (!isFilledIn(proxy, caller)) {
    return { ...asSent(req, head, whole), whole, spared: undefined, opened: nothing };
  }
  const spared = whole && (await sparedBy(proxy, head.headers, whole, room));
  const scanned = spared ? Buffer.from(spared.text) : whole;
  const filling = {
    req,
    res,
    head,
    decision,
    caller,
    use: useBy(received, caller.actorId),
    reach,
    call,
    room,
    whole: scanned,
    keepsOpened: isDry,
  };
  const { suffix, query, headers, body, opened } = await fillIn(ctx, filling);
  return { suffix, query, headers, body, whole, spared, opened };
}

/** The use of data by this call, as the audit log has it. */
function useBy({ decision, call, isDry = false }: ReceivedRequest, actorId: string | null): Use {
  const { proxy } = decision.decided;
  return {
    tenantId: proxy.tenantId,
    actorId,
    operation: isDry ? 'proxy.dry_run' : 'proxy.invoke',
    entityType: 'proxy',
    entityId: proxy.id ?? 'ephemeral',
    traceId: call.traceId,
    ...goingTo(proxy.destinationUrl),
  };
}
