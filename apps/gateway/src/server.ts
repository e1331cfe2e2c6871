import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { ticketHeader } from '@glovebox/dry-runs';
import { hasBeenHere, hopHeader } from '@glovebox/egress';
import { Problem } from '@glovebox/problems';
import { watchServer } from '@glovebox/service-host';
import { lingerBehindAnswers, traceHeader } from '@glovebox/wire';
import { sendJson, sendProblem } from './call/answers';
import { beginCall, partEnded } from './call/call-lifetime';
import { maySpeak, refuseLate, refuseUnparsable } from './connection/caller-connection';
import { CallerRequest } from './connection/caller-request';
import { CallerResponse } from './connection/caller-response';
import { answerHalfClosed } from './connection/half-closed';
import { refuseAmbiguous } from './connection/intake';
import { methodsOf, routeOf, type Route } from './connection/route';
import { responseOn } from './connection/upgrade';
import type { GatewayContext } from './context';
import { handleDryRun } from './dry-runs/dry-run-handler';
import { createFrontDoor, type FrontDoor } from './front-door';
import { productReadiness } from './health';
import type { Call } from './observing/call';
import { handleProxy } from './proxy/proxy-handler';
import { handleReact } from './react/react-handler';

const headBytesMax = 32 * 1024;

/**
 * Serves the public base URL: proxies and reactors here, everything else through the front door.
 */
export function createGatewayServer(ctx: GatewayContext): Server {
  const frontDoor = createFrontDoor(ctx);
  const { HEADERS_TIMEOUT_MS: headersTimeout, REQUEST_TIMEOUT_MS: requestTimeout } = ctx.config;
  const server = createServer({
    IncomingMessage: CallerRequest,
    ServerResponse: CallerResponse,
    headersTimeout: Math.min(headersTimeout, requestTimeout),
    requestTimeout,
    connectionsCheckingInterval: Math.min(5_000, headersTimeout, requestTimeout),
    keepAliveTimeout: 75_000,
    // Node refuses the head that has as many.
    maxHeaderSize: headBytesMax + 1,
    // intake.ts checks both: Node would answer without a body, and drop headers in silence.
    requireHostHeader: false,
  });
  server.maxHeadersCount = 0;
  const serve = (req: CallerRequest, res: CallerResponse): void => {
    if (maySpeak(req, res)) void answer(ctx, frontDoor, req, res);
  };
  const refuse = (res: CallerResponse, thrown: unknown): void => {
    if (res.call) sendProblem(res.req, res, thrown, res.call);
  };
  server.on('request', serve);
  server.on('checkContinue', serve);
  server.on('checkExpectation', serve);
  server.on('upgrade', (req: CallerRequest, socket: Socket, head: Buffer) => {
    serve(req, responseOn(req, socket, head));
  });
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return refuseUnparsable(error, socket, refuse);
    refuseLate(error, socket, refuse, requestTimeout);
  });
  lingerBehindAnswers(server);
  answerHalfClosed(server);
  watchServer(server);
  return server;
}

async function answer(
  ctx: GatewayContext,
  frontDoor: FrontDoor,
  req: CallerRequest,
  res: CallerResponse,
): Promise<void> {
  const route = routeOf(req.url ?? '');
  const call = beginCall(ctx, route.name, req, res);
  try {
    refuseAmbiguous(req, res, methodsOf[route.name]);
    // Refused at the first return, because each round could make several calls of one.
    if (hasBeenHere(loopOf(req), ctx.hopMarker)) throw new Problem('loop_detected');
    if (route.name === 'proxy') await handleProxy(ctx, req, res, call);
    else await answerOther(ctx, frontDoor, route, req, res, call);
  } catch (thrown) {
    // Not at once: Node's parser is still at the bytes behind the head, which count as well.
    await null;
    sendProblem(req, res, thrown, call);
  } finally {
    partEnded(call);
  }
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

const loopHeader = hopHeader.toLowerCase();

/** Node joins several lines of this header into one. */
function loopOf({ headers }: IncomingMessage): string | undefined {
  const list = headers[loopHeader];
  return typeof list === 'string' ? list : undefined;
}

function ticketOf({ headers }: IncomingMessage): string | undefined {
  const ticket = headers[ticketHeader];
  return typeof ticket === 'string' ? ticket : undefined;
}

const traced = ({ traceId }: Call) => ({ [traceHeader]: traceId });
