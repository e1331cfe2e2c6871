import { Agent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable, Transform, type TransformCallback } from 'node:stream';
import httpProxy from 'http-proxy';
import { isApiKey } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import {
  readBody,
  discardRest,
  PacedAnswer,
  traceHeader,
  type Reading,
  type ServiceHeaders,
} from '@glovebox/wire';
import { sendProblem } from './call/answers';
import { admitCall } from './call/call-shares';
import { withOriginHeaders } from './call/pages';
import { CallerResponse } from './connection/caller-response';
import { managementAnswerHeaders, managementHeaders } from './connection/forwarded-headers';
import { admitBody, hasBody } from './connection/intake';
import type { GatewayContext } from './context';
import type { Call } from './observing/call';
import { traceparentBelow } from './observing/tracer';

/** http-proxy would smuggle the body of a DELETE or OPTIONS, which is therefore read whole. */
const smuggledBodyBytesMax = 1024 * 1024;
/** The largest body that any operation of the management API takes. */
const managementBodyBytesMax = 16 * 1024 * 1024;

export type FrontDoor = (req: IncomingMessage, res: ServerResponse, call: Call) => Promise<void>;

/** Sends every path that is not the gateway's own to the management API. */
export function createFrontDoor(
  ctx: Pick<GatewayContext, 'config' | 'headers' | 'shares' | 'follower' | 'keyHash' | 'pages'>,
): FrontDoor {
  const { config, headers } = ctx;
  const pace = { idleMs: config.ANSWER_IDLE_MS, wholeMs: config.ANSWER_WHOLE_MS };
  const proxy = httpProxy.createProxyServer({
    target: config.MANAGEMENT_URL,
    agent: new Agent({ keepAlive: true, maxFreeSockets: 64 }),
    proxyTimeout: config.MANAGEMENT_TIMEOUT_MS,
    toProxy: true,
    prependPath: false,
    selfHandleResponse: true,
  });

  proxy.on('proxyReq', (outgoing: ClientRequest, req, res, { buffer }) => {
    // http-proxy joins repeated slashes: the path would differ from the one that was routed.
    outgoing.path = req.url ?? '/';
    // Node sends the head with the first bytes of the body, of which there may be none.
    if (buffer instanceof HeldBody && buffer.isTooLarge) outgoing.flushHeaders();
    // http-proxy leaves the request to the management API running when the caller goes away.
    if (res.destroyed) outgoing.destroy();
    // Also when the caller got another answer before that of the management API.
    res.once('close', () => outgoing.destroy());
    // Nobody asked for a switch of protocols, and Node would not report it.
    outgoing.once('upgrade', (_answer, socket) => {
      socket.destroy();
      outgoing.emit('error', new Error('the management API switched protocols'));
    });
  });
  // Answers are passed on here because http-proxy would pass on hop-by-hop headers too. A Trailer
  // among them throws where nobody catches it. http-proxy also does not report an answer that
  // breaks off.
  proxy.on('proxyRes', (answer, req, res) => {
    if (res.headersSent || res.destroyed) return void answer.destroy();
    const lines = managementAnswerHeaders(answer.rawHeaders, headers);
    const call = res instanceof CallerResponse ? res.call : undefined;
    res.writeHead(answer.statusCode ?? 502, call ? withOriginHeaders(lines, call) : lines);
    passOn(answer, new PacedAnswer(res, pace)).catch(() => res.destroy());
    // Node stops reading on both sides if the answer comes before the end of the body, and all
    // three would wait for each other. The rest of the body is dropped.
    answer.once('end', () => {
      if (req.complete) return;
      req.unpipe();
      answer.destroy();
      discardRest(req);
    });
  });

  return async (req, res, call) => {
    try {
      if (await ctx.pages.admitToManagement(req, res, call)) return;
      const owner = ownerOf(ctx, req);
      if (owner.isKnown) {
        call.tenantId = owner.tenantId;
        call.applicationId = owner.caller;
      }
      const room = admitCall(ctx, res, call, owner);
      headers.read(req, 'idempotency-key');
      admitBody(req, res);
      const declaredBytes = Number(req.headers['content-length'] ?? 0);
      const whole = await normalise(req, headers, room);
      const held = whole || !hasBody(req) ? undefined : req.pipe(new HeldBody(declaredBytes));
      const body = whole ? Readable.from([whole]) : held;
      tellTrace(req, headers, call);
      // A response reports its end once. A later listener would wait for ever and keep the call's
      // place.
      if (res.destroyed) return;
      call.isPassedOn = true;
      await new Promise<void>((resolve, reject) => {
        res.once('close', resolve);
        proxy.web(req, res, body ? { buffer: body } : {}, (cause) => {
          // The answer came before the end of the body, whose rest has nowhere to go. Until the last
          // byte of it is passed on, `passOn` tells whether it broke off.
          if (res.headersSent) return;
          if (held?.isTooLarge) reject(tooLarge(cause));
          else {
            call.isPassedOn = !isRefused(cause);
            reject(new Problem('service_unavailable', { retryAfterSeconds: 1, cause }));
          }
        });
      });
    } catch (thrown) {
      sendProblem(req, res, thrown, call);
    }
  };
}

/** Rejects when the answer breaks off, or when its caller leaves or does not read. */
async function passOn(answer: IncomingMessage, paced: PacedAnswer): Promise<void> {
  for await (const part of answer) await paced.write(part as Buffer);
  await paced.end();
}

interface Owner {
  readonly tenantId: string;
  readonly caller: string;
  /** The key is valid: both are ids of a tenant and its application. */
  readonly isKnown: boolean;
}

const nobody: Owner = { tenantId: 'nobody', caller: 'nobody', isKnown: false };

/** The management API has not heard of the call. */
const isRefused = (error: NodeJS.ErrnoException): boolean =>
  error.code === 'ECONNREFUSED' || error.code === 'ENOTFOUND';

/**
 * The owner of a call's share, if its key is genuine; the management API checks the key. While the
 * lease is over, a key belongs to its last known owner, and an unknown key to its peer.
 */
function ownerOf(
  { headers, follower, keyHash }: Pick<GatewayContext, 'headers' | 'follower' | 'keyHash'>,
  req: IncomingMessage,
): Owner {
  const key = headers.read(req, 'api-key');
  if (key === undefined || !isApiKey(key)) return nobody;
  const fresh = follower.fresh();
  const principal = (fresh ?? follower.lastKnown).principalByKeyHash(keyHash(key));
  if (principal) {
    const { tenantId, actorId: caller } = principal;
    return { tenantId, caller, isKnown: fresh !== undefined };
  }
  if (fresh) return nobody;
  const peer = `peer ${req.socket.remoteAddress ?? ''}`;
  return { tenantId: peer, caller: peer, isKnown: false };
}

/**
 * The body on its way to the management API. It passes on only enough bytes to show that the body
 * is too large for any operation. The answer of the management API counts, because it checks the
 * key and the path first. Until then the caller waits with the rest.
 */
class HeldBody extends Transform {
  #bytes = 0;

  constructor(private readonly declaredBytes: number) {
    super();
  }

  get isTooLarge(): boolean {
    return Math.max(this.declaredBytes, this.#bytes) > managementBodyBytesMax;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    if (this.isTooLarge) return;
    this.#bytes += chunk.length;
    this.push(chunk);
    if (!this.isTooLarge) done();
  }
}

/** Replaces an answer that did not come: the body would be refused in any case. */
function tooLarge(cause: Error): Problem {
  const detail = `The body is limited to ${managementBodyBytesMax} bytes.`;
  return new Problem('payload_too_large', { detail, cause });
}

/** Makes the management API log and answer the same trace id. */
function tellTrace(req: IncomingMessage, headers: ServiceHeaders, call: Call): void {
  for (const name of headers.spellingsOf('trace-id')) delete req.headers[name];
  req.headers[traceHeader.toLowerCase()] = call.traceId;
  if (!call.trace) return;
  req.headers.traceparent = traceparentBelow(call.trace, call.trace.spanId);
  // Without a valid traceparent a tracestate belongs to nothing.
  if (call.trace.parentSpanId === undefined) delete req.headers.tracestate;
}

/**
 * Makes the request that the management API gets. http-proxy 1.18.1 declares DELETE and OPTIONS
 * without a length to have no body, and then sends the chunks all the same. Their reader would take
 * them for a second request. With `Expect` its own `proxyReq` hook does not run.
 */
async function normalise(
  req: IncomingMessage,
  ours: ServiceHeaders,
  reading: Reading,
): Promise<Buffer | undefined> {
  const length = req.headers['content-length'];
  const chunked = req.headers['transfer-encoding'] !== undefined;
  const isSmuggled = chunked && (req.method === 'DELETE' || req.method === 'OPTIONS');
  const headers = managementHeaders(req.rawHeaders, ours);
  const body = isSmuggled ? await readBody(req, smuggledBodyBytesMax, reading) : undefined;
  if (body) headers['content-length'] = String(body.length);
  else if (chunked) headers['transfer-encoding'] = 'chunked';
  else if (length !== undefined) headers['content-length'] = length;
  // Node would chunk an empty body.
  else headers['content-length'] = '0';
  req.headers = headers as IncomingMessage['headers'];
  return body;
}
