import { Agent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import httpProxy from 'http-proxy';
import { Problem } from '@glovebox/problems';
import { traceHeader, type ServiceHeaders } from '@glovebox/service-host';
import { sendProblem } from './answers';
import type { Call } from './call';
import { admitBody, hasBody, readBody } from './intake';
import { traceparentBelow } from './tracer';

/** A body that http-proxy would smuggle is read whole; management bodies are at most this large. */
const bufferBytesMax = 1024 * 1024;

export type FrontDoor = (req: IncomingMessage, res: ServerResponse, call: Call) => Promise<void>;

/** Every path that is not the gateway's own goes to the management API. */
export function createFrontDoor(managementUrl: string, headers: ServiceHeaders): FrontDoor {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });
  const proxy = httpProxy.createProxyServer({ target: managementUrl, agent, proxyTimeout: 30_000 });

  proxy.on('proxyReq', (outgoing: ClientRequest, req, res) => {
    // http-proxy leaves the request to the management API running when the caller goes away.
    res.once('close', () => {
      if (!res.writableFinished) outgoing.destroy();
    });
    // Answered before the body was through, Node stops reading on both sides, and all three of us
    // would wait for each other: the rest of the body goes nowhere.
    outgoing.once('response', (answer) => {
      answer.once('end', () => {
        if (req.complete) return;
        req.unpipe(outgoing);
        req.resume();
        outgoing.destroy();
      });
    });
  });

  // How long the caller's connection lasts is between the two of us.
  proxy.on('proxyRes', (answer, _req, res) => {
    delete answer.headers['keep-alive'];
    answer.headers.connection = res.shouldKeepAlive ? 'keep-alive' : 'close';
  });

  return async (req, res, call) => {
    try {
      // http-proxy would join the two keys of a caller into one.
      headers.read(req, 'api-key');
      admitBody(req, res);
      const body = await normalise(req);
      tellTrace(req, headers, call);
      await new Promise<void>((resolve, reject) => {
        res.once('close', resolve);
        proxy.web(req, res, body ? { buffer: Readable.from([body]) } : {}, (error) =>
          reject(new Problem('service_unavailable', { retryAfterSeconds: 1, cause: error })),
        );
      });
    } catch (thrown) {
      sendProblem(req, res, thrown, call);
    }
  };
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
 * http-proxy 1.18.1 declares DELETE and OPTIONS without a length to have no body, and then sends the
 * chunks all the same: the management API would read them as a second request. And its own
 * `proxyReq` hook does not run for `Expect: 100-continue`.
 */
async function normalise(req: IncomingMessage): Promise<Buffer | undefined> {
  delete req.headers.expect;
  delete req.headers.upgrade;
  const chunked = req.headers['transfer-encoding'] !== undefined;
  if (!chunked || !hasBody(req)) return undefined;
  if (req.method !== 'DELETE' && req.method !== 'OPTIONS') return undefined;
  const body = await readBody(req, bufferBytesMax);
  delete req.headers['transfer-encoding'];
  req.headers['content-length'] = String(body.length);
  return body;
}
