import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { RunnerAddress } from '@glovebox/sandbox';
import { ClientConnection } from './client-connection';
import type { RunnerContext } from '../context';

interface RunnerServer {
  readonly address: RunnerAddress;
  /** Accepts no new connections or runs, and waits for the runs in flight. */
  close(): Promise<void>;
}

/** Serves gateways and workers. */
export async function startServer(ctx: RunnerContext): Promise<RunnerServer> {
  const connections = new Set<ClientConnection>();
  const secretDigest = digestOf(ctx.config.secret.reveal());
  const isSecret = (text: string): boolean => timingSafeEqual(digestOf(text), secretDigest);

  const server = createServer((socket: Socket) => {
    const connection = new ClientConnection(ctx, socket, isSecret);
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
  });
  await listen(server, ctx.config.listen);

  return {
    address: addressOf(server, ctx.config.listen),
    async close() {
      const closed = once(server, 'close');
      server.close();
      await Promise.all([...connections].map((connection) => connection.drain()));
      await closed;
    },
  };
}

/** Compares digests of the secret: equal lengths, and the time does not reveal how much matched. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

async function listen(server: Server, address: RunnerAddress): Promise<void> {
  if (!('path' in address)) {
    server.listen(address.port, address.host);
    await once(server, 'listening');
    return;
  }
  await removeStaleSocket(address.path);
  // listen() itself makes the file, whose mode must be right from the start.
  const mask = process.umask(0o177);
  try {
    server.listen(address.path);
  } finally {
    process.umask(mask);
  }
  await once(server, 'listening');
}

/** A killed runner leaves its socket file behind. The file of a running one must stay. */
async function removeStaleSocket(path: string): Promise<void> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') rmSync(path);
    return;
  } finally {
    socket.destroy();
  }
  throw new Error(`another runner listens on ${path}`);
}

function addressOf(server: Server, configured: RunnerAddress): RunnerAddress {
  const bound = server.address();
  if ('path' in configured || bound === null || typeof bound === 'string') return configured;
  return { host: configured.host, port: bound.port };
}
