import { randomUUID } from 'node:crypto';
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem } from '@glovebox/problems';
import { traceHeader, watchServer } from '@glovebox/service-host';
import { sendJson, sendProblem } from './answers';
import { beginCall, type Call } from './call';
import type { GatewayContext } from './context';
import { createFrontDoor, type FrontDoor } from './front-door';
import { productReadiness } from './health';
import { refuseAmbiguous } from './intake';
import { handleProxy } from './proxy-handler';
import { handleReact } from './react-handler';

/** The public base URL: proxies and reactors are served here, the rest goes through the front door. */
export function createGatewayServer(ctx: GatewayContext): Server {
  const frontDoor = createFrontDoor(ctx.config.MANAGEMENT_URL, ctx.headers);
  const server = createServer({
    headersTimeout: 20_000,
    requestTimeout: 300_000,
    keepAliveTimeout: 75_000,
    maxHeaderSize: 32 * 1024,
    requireHostHeader: true,
  });
  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    const route = routeOf(req.url ?? '');
    const call = beginCall(ctx, route.name, req, res);
    answer(ctx, frontDoor, route, req, res, call).catch((error: unknown) => {
      sendProblem(req, res, error, call);
    });
  };
  server.on('request', serve);
  server.on('checkContinue', serve);
  server.on('clientError', refuseUnparsable);
  watchServer(server);
  return server;
}

const unparsable: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** What Node's parser refuses never becomes a request; it is answered in the common form all the same. */
function refuseUnparsable(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = unparsable[error.code ?? ''] ?? 400;
  const body = JSON.stringify(new Problem('invalid_request', { status }).body());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `${traceHeader}: ${randomUUID()}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

type Route =
  | { readonly name: 'proxy' | 'live' | 'ready' | 'management' }
  | { readonly name: 'react'; readonly reactorId: string };

const reactPath = /^\/reactors\/([^/?]+)\/react\/?(?:\?|$)/;

function routeOf(url: string): Route {
  if (url.startsWith('/proxy') && /^(?:[/?]|$)/.test(url.slice(6))) return { name: 'proxy' };
  const [, reactorId] = reactPath.exec(url) ?? [];
  if (reactorId !== undefined) return { name: 'react', reactorId };
  if (url === '/health/live') return { name: 'live' };
  if (url === '/health/ready') return { name: 'ready' };
  return { name: 'management' };
}

async function answer(
  ctx: GatewayContext,
  frontDoor: FrontDoor,
  route: Route,
  req: IncomingMessage,
  res: ServerResponse,
  call: Call,
): Promise<void> {
  refuseAmbiguous(req);
  switch (route.name) {
    case 'proxy':
      return handleProxy(ctx, req, res, call);
    case 'react':
      if (req.method !== 'POST') return frontDoor(req, res, call);
      return handleReact(ctx, req, res, route.reactorId, call);
    case 'live':
      return sendJson(res, 200, { status: 'ok' }, traced(call));
    case 'ready': {
      const { ready, components } = await productReadiness(ctx);
      const status = ready ? 'ok' : 'degraded';
      return sendJson(res, ready ? 200 : 503, { status, components }, traced(call));
    }
    case 'management':
      return frontDoor(req, res, call);
  }
}

const traced = ({ traceId }: Call) => ({ [traceHeader]: traceId });
