import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { lingerBehindAnswers } from '@glovebox/wire';
import { closeServer } from './close-server';

export interface Readiness {
  readonly ready: boolean;
  /** The state of each part: up, down, or a longer word. */
  readonly components: Readonly<Record<string, string>>;
}

interface OpsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves liveness, readiness and metrics of a process, on a port that is never public. */
export async function startOpsServer(options: {
  host: string;
  port: number;
  ready: () => Promise<Readiness>;
  metrics: () => Promise<string>;
  /** Tells whether the server that takes calls listens, if there is one. */
  isServing?: () => boolean;
  /** Once it is aborted, the process is not ready, whatever else is up. */
  stopping?: AbortSignal;
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
      if (options.stopping?.aborted) return json(503, { status: 'stopping', components: {} });
      options.ready().then(({ ready, components }) => {
        const isReady = ready && options.isServing?.() !== false;
        json(isReady ? 200 : 503, { status: isReady ? 'ok' : 'unavailable', components });
      }, fail);
    } else if (req.url === '/metrics') {
      options.metrics().then((page) => answer(200, 'text/plain; version=0.0.4', page), fail);
    } else json(404, { status: 'not found' });
  });
  lingerBehindAnswers(server);
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) };
}
