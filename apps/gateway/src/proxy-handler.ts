import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '@glovebox/access';
import { jsonTemplate } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { decodeUtf8, traceHeader } from '@glovebox/service-host';
import { sendProblem } from './answers';
import type { Call } from './call';
import { findProxy, type InvokedProxy } from './caller';
import type { GatewayContext } from './context';
import { destinationOf, type Destination } from './destination-url';
import { forward } from './forward';
import { forwardedHeaders } from './forwarded-headers';
import { takeProxyKey } from './proxy-key';
import { passTraceOn } from './tracer';
import { admitBody, hasBody, isJson, mediaType, readBody } from './intake';

const firstByteMs = 30_000;

/**
 * A call of a proxy, from the first header to the last byte: proxy by key, who calls, expressions,
 * forward. Hot path: without an expression nothing is parsed and no store is asked.
 */
export async function handleProxy(
  ctx: GatewayContext,
  req: IncomingMessage,
  res: ServerResponse,
  call: Call,
): Promise<void> {
  const { traceId } = call;
  try {
    const { suffix, query, key } = readTarget(ctx, req);
    const definitions = ctx.follower.fresh() ?? (await ctx.follower.current());
    const { proxy, caller } = findProxy(ctx, req, definitions, key);
    call.tenantId = proxy.tenantId;
    call.proxyId = proxy.id ?? undefined;
    refuseTransforms(proxy);
    const destination = destinationOf(proxy.destinationUrl, suffix, query);
    call.destinationHost = destination.host;
    const headers = forwardedHeaders(req.rawHeaders, ctx.headers);
    passTraceOn(headers, call);

    const body = await outgoingBody(ctx, { req, res, proxy, caller, destination, traceId });
    const length = req.headers['content-length'];
    if (body === req && length !== undefined) headers.push('content-length', length);
    await forward(
      ctx.destinations.forOrigin(destination.origin),
      {
        method: req.method ?? 'GET',
        path: destination.path,
        headers,
        body,
        firstByteMs: proxy.timeoutMs ?? firstByteMs,
      },
      res,
      [traceHeader, traceId],
      ctx.headers,
      call,
    );
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

/** Running a call without the transform that its owner asked for could leak what it would hide. */
function refuseTransforms(proxy: InvokedProxy): void {
  if (!proxy.requestTransform && !proxy.responseTransform) return;
  throw new Problem('service_unavailable', {
    detail: 'This version does not run transforms yet.',
  });
}

/** The body as the destination shall see it: streamed as it comes, or read whole and filled in. */
async function outgoingBody(
  ctx: GatewayContext,
  call: {
    req: IncomingMessage;
    res: ServerResponse;
    proxy: InvokedProxy;
    caller: Principal | null;
    destination: Destination;
    traceId: string;
  },
): Promise<Buffer | IncomingMessage | null> {
  const { req, res, proxy, caller } = call;
  if (!hasBody(req)) return null;
  admitBody(req, res);
  const encoded = (req.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';
  if (!caller || !proxy.detokenize || encoded || !isJson(mediaType(req))) return req;

  const body = await readBody(req, ctx.config.PROXY_BUFFER_MAX);
  if (body.indexOf('{{') < 0) return body;
  const template = jsonTemplate(decodeUtf8(body));
  const use = {
    tenantId: proxy.tenantId,
    actorId: caller.applicationId,
    operation: 'proxy.invoke',
    entityType: 'proxy',
    entityId: proxy.id ?? 'ephemeral',
    traceId: call.traceId,
    destinationHost: call.destination.host,
  };
  const values = await ctx.vault.detokenize(ctx.database, caller, use, template.tokenIds);
  return Buffer.from(template.render(values), 'utf8');
}
