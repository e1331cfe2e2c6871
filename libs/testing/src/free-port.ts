import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** The pids of test processes that run at once differ by this modulus. */
const processes = 64;
/** Below the ports that systems give to outgoing connections and to listeners on port 0. */
const [from, to] = [10_000, 32_000];

const given = new Set<number>();

/** A free port that no other test process and no other call here is given. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port =
      from + processes * randomInt(Math.floor((to - from) / processes)) + (process.pid % processes);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
