import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import {
  inWords,
  spokenVersions,
  textOf,
  type JsonObject,
  type RunnerAddress,
} from '@glovebox/sandbox';
import { aLineAMinute } from '../a-line-a-minute';
import { ClientConnection } from './client-connection';
import { createTlsServer } from './tls-server';
import type { RunnerContext } from '../context';

interface RunnerServer {
  readonly address: RunnerAddress;
  /** Accepts no new connections or runs, and waits for the runs in flight. */
  close(): Promise<void>;
}

/** Serves gateways and workers: on a Unix socket as it is, over TCP with TLS. */
export async function startServer(ctx: RunnerContext): Promise<RunnerServer> {
  const connections = new Set<ClientConnection>();
  const secrets = ctx.config.secrets.map((secret) => secret.reveal());
  let isClosing = false;
  const logForeign = aLineAMinute((theirs, before) =>
    ctx.logger.warn(
      { theirs, ours: inWords(spokenVersions), before },
      'a client speaks no version of the protocol that this runner speaks: replace the older one',
    ),
  );
  const welcome = (isProven: (hello: JsonObject) => boolean) => (socket: Socket) => {
    // A handshake may outlast the wish to close.
    if (isClosing) return void socket.destroy();
    const connection = new ClientConnection(ctx, socket, isProven, logForeign);
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
  };

  const server =
    'path' in ctx.config.listen
      ? createServer(welcome(secretCheck(secrets)))
      : createTlsServer(
          secrets,
          ctx.logger,
          welcome(() => true),
        );
  await listen(server, ctx.config.listen);

  return {
    address: addressOf(server, ctx.config.listen),
    async close() {
      isClosing = true;
      const closed = once(server, 'close');
      server.close();
      await Promise.all([...connections].map((connection) => connection.drain()));
      await closed;
    },
  };
}

/** Compares digests: equal lengths, and the time does not reveal how much matched. */
function secretCheck(secrets: readonly string[]): (hello: JsonObject) => boolean {
  const digests = secrets.map(digestOf);
  return (hello) => {
    const digest = digestOf(textOf(hello, 'secret'));
    return digests.some((known) => timingSafeEqual(digest, known));
  };
}

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
