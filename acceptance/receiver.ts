import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** The next request that has not been waited for yet. */
  next(): Promise<Received>;
  close(): Promise<void>;
}

const thanks = (res: ServerResponse): void => {
  res.writeHead(200, { 'content-type': 'application/json' }).end('{"received":true}');
};

/** A third party: accepts every request and answers `{"received": true}` unless told otherwise. */
export async function startReceiver(
  answer: (res: ServerResponse, request: Received) => void = thanks,
): Promise<Receiver> {
  const received: Received[] = [];
  let waitedFor = 0;
  const arrived = new EventTarget();
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const request = {
        method: req.method ?? '',
        url: req.url ?? '',
        headers: req.headers,
        rawHeaders: req.rawHeaders,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      received.push(request);
      answer(res, request);
      arrived.dispatchEvent(new Event('request'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async next() {
      for (;;) {
        const request = received[waitedFor];
        if (request) {
          waitedFor += 1;
          return request;
        }
        await new Promise((resolve) => {
          arrived.addEventListener('request', resolve, { once: true });
        });
      }
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
