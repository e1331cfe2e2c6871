import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Balancer {
  readonly url: string;
  readonly targets: Set<string>;
  close(): Promise<void>;
}

/** In turn to each target, once: whatever one of them fails is failed. */
export async function startBalancer(): Promise<Balancer> {
  const targets = new Set<string>();
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
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      },
    );
    onward.on('error', (error) => {
      if (res.headersSent) res.destroy(error);
      else res.writeHead(502).end(`the balancer failed: ${error.message}`);
    });
    req.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    targets,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
