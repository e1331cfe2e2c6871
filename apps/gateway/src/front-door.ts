import { Agent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable, Transform, type TransformCallback } from 'node:stream';
import httpProxy from 'http-proxy';
import { isApiKey } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import { readBody, readOn, traceHeader, type Reading, type ServiceHeaders } from '@glovebox/wire';
import { sendProblem } from './call/answers';
import type { Call } from './observing/call';
import { admitCall } from './call/call-shares';
import type { GatewayContext } from './context';
import { managementAnswerHeaders, managementHeaders } from './connection/forwarded-headers';
import { admitBody, hasBody } from './connection/intake';
import { traceparentBelow } from './observing/tracer';

/** A body that http-proxy would smuggle is read whole: of requests whose body nobody wants. */
const smuggledBodyBytesMax = 1024 * 1024;
/** The largest body that any operation of the management API takes. */
const managementBodyBytesMax = 10 * 1024 * 1024;

export type FrontDoor = (req: IncomingMessage, res: ServerResponse, call: Call) => Promise<void>;

/** Every path that is not the gateway's own goes to the management API. */
export function createFrontDoor(
  ctx: Pick<GatewayContext, 'config' | 'headers' | 'shares' | 'follower' | 'keyHash'>,
): FrontDoor {
  const { config, headers } = ctx;
  const proxy = httpProxy.createProxyServer({
    target: config.MANAGEMENT_URL,
    agent: new Agent({ keepAlive: true, maxFreeSockets: 64 }),
    proxyTimeout: config.MANAGEMENT_TIMEOUT_MS,
    toProxy: true,
    prependPath: false,
    selfHandleResponse: true,
  });

  proxy.on('proxyReq', (outgoing: ClientRequest, req, res, { buffer }) => {
    // http-proxy joins repeated slashes: another path than the one that was routed.
    outgoing.path = req.url ?? '/';
    // Node sends the head with the first bytes of the body, of which there may be none.
    if (buffer instanceof HeldBody && buffer.isTooLarge) outgoing.flushHeaders();
    // It leaves the request to the management API running when the caller goes away.
    if (res.destroyed) outgoing.destroy();
    // Also where the caller got another answer than that of the management API, which is yet to come.
    res.once('close', () => outgoing.destroy());
    // A switch that nobody asked for is no answer, and Node would tell nobody of it.
    outgoing.once('upgrade', (_answer, socket) => {
      socket.destroy();
      outgoing.emit('error', new Error('the management API switched protocols'));
    });
  });
  // Passed on by ourselves: http-proxy would pass on hop-by-hop headers too, and a Trailer among
  // them throws where nobody catches; and of an answer that breaks off it never tells.
  proxy.on('proxyRes', (answer, req, res) => {
    if (res.headersSent || res.destroyed) return void answer.destroy();
    res.writeHead(answer.statusCode ?? 502, managementAnswerHeaders(answer.rawHeaders, headers));
    answer.pipe(res);
    answer.once('close', () => {
      if (!answer.complete) res.destroy();
    });
    // Answered before the body was through, Node stops reading on both sides, and all three of us
    // would wait for each other: the rest of the body goes nowhere.
    answer.once('end', () => {
      if (req.complete) return;
      req.unpipe();
      answer.destroy();
      readOn(req);
    });
  });

  return async (req, res, call) => {
    try {
      const room = admitCall(ctx, res, call, ownerOf(ctx, req));
      headers.read(req, 'idempotency-key');
      admitBody(req, res);
      const declaredBytes = Number(req.headers['content-length'] ?? 0);
      const whole = await normalise(req, headers, room);
      const held = whole || !hasBody(req) ? undefined : req.pipe(new HeldBody(declaredBytes));
      const body = whole ? Readable.from([whole]) : held;
      tellTrace(req, headers, call);
      // It tells of its end once: who asks later would wait for ever, and keep the call's place.
      if (res.destroyed) return;
      await new Promise<void>((resolve, reject) => {
        res.once('close', resolve);
        proxy.web(req, res, body ? { buffer: body } : {}, (cause) => {
          if (held?.isTooLarge) reject(tooLarge(cause));
          else reject(new Problem('service_unavailable', { retryAfterSeconds: 1, cause }));
        });
      });
    } catch (thrown) {
      sendProblem(req, res, thrown, call);
    }
  };
}

interface Owner {
  readonly tenantId: string;
  readonly caller: string;
}

const nobody: Owner = { tenantId: 'nobody', caller: 'nobody' };

/**
 * Whose call it is if it is what it says; the management API judges the key. While nobody knows what
 * is revoked by now, the owner of a key is who it was last, and a key that is not known is its peer's.
 */
function ownerOf(
  { headers, follower, keyHash }: Pick<GatewayContext, 'headers' | 'follower' | 'keyHash'>,
  req: IncomingMessage,
): Owner {
  const key = headers.read(req, 'api-key');
  if (key === undefined || !isApiKey(key)) return nobody;
  const fresh = follower.fresh();
  const principal = (fresh ?? follower.lastKnown).principalByKeyHash(keyHash(key));
  if (principal) return { tenantId: principal.tenantId, caller: principal.applicationId };
  if (fresh) return nobody;
  const peer = `peer ${req.socket.remoteAddress ?? ''}`;
  return { tenantId: peer, caller: peer };
}

/**
 * The body on its way to the management API, which gets no more of it than shows that it is too large
 * for any operation. Its answer, which looks at the key and the path first, is the one that counts;
 * until then the caller waits with the rest.
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

/** In place of an answer that did not come: the body would be refused in any case. */
function tooLarge(cause: Error): Problem {
  const detail = `The body is limited to ${managementBodyBytesMax} bytes.`;
  return new Problem('payload_too_large', { detail, cause });
}

/** Both of us log and answer one trace id. */
function tellTrace(req: IncomingMessage, headers: ServiceHeaders, call: Call): void {
  for (const name of headers.spellingsOf('trace-id')) delete req.headers[name];
  req.headers[traceHeader.toLowerCase()] = call.traceId;
  if (!call.trace) return;
  req.headers.traceparent = traceparentBelow(call.trace, call.trace.spanId);
  // Without a traceparent that counts, a tracestate belongs to nothing.
  if (call.trace.parentSpanId === undefined) delete req.headers.tracestate;
}

/**
 * The request as the management API shall see it. http-proxy 1.18.1 declares DELETE and OPTIONS
 * without a length to have no body, and then sends the chunks all the same: a second request to who
 * reads them. And with `Expect` its own `proxyReq` hook does not run.
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
  // Node would chunk a body of nothing.
  else headers['content-length'] = '0';
  req.headers = headers as IncomingMessage['headers'];
  return body;
}
