import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Balancer {
  readonly url: string;
  add(target: string): void;
  /**
   * Sends nothing more there. Resolves when all calls there are answered, as before a pod's
   * SIGTERM.
   */
  remove(target: string): Promise<void>;
  close(): Promise<void>;
}

/** Sends calls to the targets in turn. A failed call is not tried again. */
export async function startBalancer(): Promise<Balancer> {
  const targets = new Set<string>();
  const underWay = new Map<string, number>();
  const settled = new EventTarget();
  const count = (target: string, change: 1 | -1): void => {
    underWay.set(target, (underWay.get(target) ?? 0) + change);
    settled.dispatchEvent(new Event(target));
  };
  const agent = new Agent({ keepAlive: false });
  let turn = 0;
  const server = createServer((req, res) => {
    turn += 1;
    const target = [...targets][turn % targets.size] ?? 'http://127.0.0.1:1';
    const { method, headers } = req;
    const onward = request(
      new URL(req.url ?? '/', target),
      { agent, method, headers },
      (answer) => {
        // What the target says of its connection is not about the caller's.
        const { connection: _, 'keep-alive': _alive, ...rest } = answer.headers;
        res.writeHead(answer.statusCode ?? 502, rest);
        answer.pipe(res);
      },
    );
    onward.on('error', (error) => {
      if (res.headersSent) res.destroy(error);
      else res.writeHead(502).end(`the balancer failed: ${error.message}`);
    });
    count(target, 1);
    onward.on('close', () => count(target, -1));
    req.pipe(onward);
  });
  // Callers close what they do not use: a connection that ends here may carry a call already.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    add: (target) => void targets.add(target),
    async remove(target) {
      targets.delete(target);
      while ((underWay.get(target) ?? 0) > 0) {
        await new Promise((resolve) => {
          settled.addEventListener(target, resolve, { once: true });
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
