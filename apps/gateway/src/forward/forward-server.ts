import type { Server } from 'node:http';
import { Problem } from '@glovebox/problems';
import { serveCall } from '../call/serve-call';
import { endConnection } from '../connection/caller-connection';
import type { CallerRequest } from '../connection/caller-request';
import type { CallerResponse } from '../connection/caller-response';
import { createCallerServer } from '../connection/caller-server';
import { refuseAmbiguous, refuseLoop } from '../connection/intake';
import { forwardedMethods } from '../connection/route';
import type { GatewayContext } from '../context';
import type { Call } from '../observing/call';
import { callProxy } from '../proxy/proxy-handler';
import { handleConnect } from './connect-handler';
import { askForKey, forwardCaller, proxyAuthorizationOf } from './forward-caller';
import { forwardProxy, refuseOtherPath } from './forward-proxy';
import { ForwardRequest } from './forward-request';
import { namesHost, namesTarget, readAbsoluteForm, type ForwardTarget } from './forward-target';
import { tunnelOf, type Tunnel } from './tunnel';

/**
 * Serves clients that know this product as their HTTP proxy alone (docs/forward.md): requests with
 * whole URLs, CONNECT, and the requests within tunnels.
 */
export function createForwardServer(ctx: GatewayContext): Server {
  const server = createCallerServer(ctx.config, ForwardRequest, (req, res) => {
    const tunnel = tunnelOf(req.socket);
    void serveCall(ctx, 'forward', req, res, (call) => {
      if (tunnel) return answerInTunnel(ctx, req, res, call, tunnel);
      if (req.method === 'CONNECT') return handleConnect(ctx, server, req, res, call);
      return answerAbsolute(ctx, req, res, call);
    });
  });
  return server;
}

const notAbsolute =
  'This port is a forward proxy: it takes http:// URLs as request targets, and CONNECT for https.';

async function answerAbsolute(
  ctx: GatewayContext,
  req: CallerRequest,
  res: CallerResponse,
  call: Call,
): Promise<void> {
  const absolute = readAbsoluteForm(req.url ?? '');
  req.url = absolute?.pathAndQuery ?? req.url ?? '';
  refuseAmbiguous(req, res, forwardedMethods);
  refuseLoop(ctx, req);
  if (!absolute) throw new Problem('invalid_request', { detail: notAbsolute });
  const { target } = absolute;
  if (!namesTarget(req.headers.host, target)) throw misdirected();
  const key = proxyAuthorizationOf(req);
  try {
    await forwardRequest(ctx, { req, res, call, target, key });
  } catch (thrown) {
    throw askForKey(thrown);
  }
}

function answerInTunnel(
  ctx: GatewayContext,
  req: CallerRequest,
  res: CallerResponse,
  call: Call,
  { target, key, serverName }: Tunnel,
): Promise<void> {
  refuseAmbiguous(req, res, forwardedMethods);
  refuseLoop(ctx, req);
  const isNamed = serverName === undefined || namesHost(serverName, target);
  if (!isNamed || !namesTarget(req.headers.host, target)) {
    endConnection(res);
    throw misdirected();
  }
  return forwardRequest(ctx, { req, res, call, target, key });
}

interface Forwarded {
  readonly req: CallerRequest;
  readonly res: CallerResponse;
  readonly call: Call;
  readonly target: ForwardTarget;
  readonly key: string | undefined;
}

/** Gives a request to the proxy that matches it. Whoever calls is decided for each request anew. */
async function forwardRequest(
  ctx: GatewayContext,
  { req, res, call, target, key }: Forwarded,
): Promise<void> {
  const definitions = ctx.follower.fresh() ?? (await ctx.follower.current());
  const [, path = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(req.url ?? '') ?? [];
  const asked = { method: req.method ?? '', path };
  return callProxy(ctx, {
    ...{ req, res, call, suffix: path, query, definitions },
    find: (now) => {
      const caller = forwardCaller(ctx, req, key, now, call);
      return { proxy: forwardProxy(ctx, now, caller.tenantId, target, asked), caller };
    },
    refusePath: (proxy, left) =>
      refuseOtherPath(definitions, proxy, target, { ...asked, path: left }),
  });
}

const misdirected = (): Problem =>
  new Problem('misdirected_request', {
    detail: 'The Host header, the name of TLS and the target of the request differ.',
  });
