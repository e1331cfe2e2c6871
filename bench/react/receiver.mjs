import { once } from 'node:events';
import { createServer } from 'node:http';
import { until } from '../lib/waiting.mjs';

/** A tenant has at most ten webhooks under way to one host, so that fifty need five. */
const hosts = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];

/** Receives webhooks under several addresses, and notes when each came. */
export async function startReceiver() {
  /** @type {{ at: number, body: string }[]} */
  const received = [];
  const servers = hosts.map(() =>
    createServer((req, res) => {
      let body = '';
      req.setEncoding('utf8').on('data', (text) => (body += text));
      req.on('end', () => {
        received.push({ at: now(), body });
        res.writeHead(204).end();
      });
    }),
  );
  let port = 0;
  for (const [at, server] of servers.entries()) {
    server.listen(port, hosts[at]);
    await once(server, 'listening');
    ({ port } = /** @type {import('node:net').AddressInfo} */ (server.address()));
  }
  return {
    urls: hosts.map((host) => `http://${host}:${port}/`),
    /**
     * Resolves to the next webhooks once as many have come.
     *
     * @param {number} count
     */
    async next(count) {
      await until(() => received.length >= count, { what: `${count} webhooks`, withinMs: 120_000 });
      return received.splice(0, count);
    },
    close() {
      for (const server of servers) server.close().closeAllConnections();
    },
  };
}

/** Milliseconds since 1970, finer than Date.now(). */
export const now = () => performance.timeOrigin + performance.now();
