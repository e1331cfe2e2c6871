import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { Server as NetServer, type AddressInfo } from 'node:net';

export interface Readiness {
  readonly ready: boolean;
  /** Part → up, down, or a word more. */
  readonly components: Readonly<Record<string, string>>;
}

export interface OpsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Liveness, readiness and metrics of one process, on a port of their own that is never public. */
export async function startOpsServer(options: {
  host: string;
  port: number;
  ready: () => Promise<Readiness>;
  metrics: () => Promise<string>;
}): Promise<OpsServer> {
  const server = createServer((req, res) => {
    const answer = (status: number, type: string, body: string): void => {
      res.writeHead(status, { 'content-type': type }).end(body);
    };
    const json = (status: number, body: object): void =>
      answer(status, 'application/json', JSON.stringify(body));
    const fail = (): void => json(500, { status: 'failed' });

    if (req.url === '/health/live') json(200, { status: 'ok' });
    else if (req.url === '/health/ready') {
      options.ready().then(({ ready, components }) => {
        json(ready ? 200 : 503, { status: ready ? 'ok' : 'unavailable', components });
      }, fail);
    } else if (req.url === '/metrics') {
      options.metrics().then((page) => answer(200, 'text/plain; version=0.0.4', page), fail);
    } else json(404, { status: 'not found' });
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) };
}

const idleSweepMs = 100;
const idleGraceMs = 1_000;

/**
 * Stops accepting and waits for what is under way. Callers that keep their connection are told with
 * their next answer that it is the last one; those that say nothing more are disconnected.
 */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  const closeAt = performance.now() + idleGraceMs;
  server.prependListener('request', (_req, res) => {
    res.shouldKeepAlive = false;
  });
  // http's own close() would cut off at once who is just about to ask on a connection it keeps.
  NetServer.prototype.close.call(server);
  const sweeping = setInterval(() => {
    if (performance.now() > closeAt) server.closeIdleConnections();
  }, idleSweepMs);
  await closed;
  clearInterval(sweeping);
}
