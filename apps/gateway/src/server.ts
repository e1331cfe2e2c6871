import type { IncomingMessage, Server } from 'node:http';
import { ticketHeader } from '@glovebox/dry-runs';
import { traceHeader } from '@glovebox/wire';
import { sendJson } from './call/answers';
import { serveCall } from './call/serve-call';
import { CallerRequest } from './connection/caller-request';
import type { CallerResponse } from './connection/caller-response';
import { createCallerServer } from './connection/caller-server';
import { refuseAmbiguous, refuseLoop } from './connection/intake';
import { methodsOf, routeOf, type Route } from './connection/route';
import type { GatewayContext } from './context';
import { handleDryRun } from './dry-runs/dry-run-handler';
import { createFrontDoor, type FrontDoor } from './front-door';
import { productReadiness } from './health';
import type { Call } from './observing/call';
import { handleProxy } from './proxy/proxy-handler';
import { handleReact } from './react/react-handler';

/**
 * Serves the public base URL: proxies and reactors here, everything else through the front door.
 */
export function createGatewayServer(ctx: GatewayContext): Server {
  const frontDoor = createFrontDoor(ctx);
  return createCallerServer(ctx.config, CallerRequest, (req, res) => {
    void answer(ctx, frontDoor, req, res);
  });
}

async function answer(
  ctx: GatewayContext,
  frontDoor: FrontDoor,
  req: CallerRequest,
  res: CallerResponse,
): Promise<void> {
  const route = routeOf(req.url ?? '');
  await serveCall(ctx, route.name, req, res, (call) => {
    refuseAmbiguous(req, res, methodsOf[route.name]);
    refuseLoop(ctx, req);
    if (route.name === 'proxy') return handleProxy(ctx, req, res, call);
    return answerOther(ctx, frontDoor, route, req, res, call);
  });
}

async function answerOther(
  ctx: GatewayContext,
  frontDoor: FrontDoor,
  route: Exclude<Route, { name: 'proxy' }>,
  req: CallerRequest,
  res: CallerResponse,
  call: Call,
): Promise<void> {
  switch (route.name) {
    case 'react':
      return handleReact(ctx, req, res, route.reactorId, call);
    case 'live':
      return sendJson(res, 200, { status: 'ok' }, traced(call));
    case 'ready': {
      const { ready, components } = await productReadiness(ctx);
      const status = ready ? 'ok' : 'degraded';
      return sendJson(res, ready ? 200 : 503, { status, components }, traced(call));
    }
    case 'dry_run': {
      const ticket = req.method === 'POST' ? ctx.tickets.read(ticketOf(req)) : undefined;
      return ticket ? handleDryRun(ctx, req, res, ticket, call) : frontDoor(req, res, call);
    }
    case 'management':
      return frontDoor(req, res, call);
  }
}

function ticketOf({ headers }: IncomingMessage): string | undefined {
  const ticket = headers[ticketHeader];
  return typeof ticket === 'string' ? ticket : undefined;
}

const traced = ({ traceId }: Call) => ({ [traceHeader]: traceId });
