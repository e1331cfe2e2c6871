import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A connection to a server that a test can break. */
export interface TcpRelay {
  readonly url: string;
  /** A URL of the same server, by way of this relay. */
  through(url: string): string;
  /** Simulates a server that is gone: connections break, new ones are refused. */
  cut(): Promise<void>;
  /**
   * Simulates a network that loses everything: connections stay and new ones open, but no byte
   * passes.
   */
  stall(): void;
  /** Simulates a network that forgot the open connections: they stay, and no byte passes on them. */
  stallOpen(): void;
  /** Leads new connections to another server. */
  leadTo(url: string): void;
  /** Lets connections in again; bytes that a stall held back arrive now. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Relays to the server of this URL. */
export async function startTcpRelay(target: string): Promise<TcpRelay> {
  let { port: targetPort, hostname } = new URL(target);
  const sockets = new Set<Socket>();
  let held: (() => void)[] | undefined;
  const join = (from: Socket, to: Socket): void => {
    sockets.add(from);
    const pass = (step: () => void): void => (held ? void held.push(step) : step());
    from.on('data', (chunk) => pass(() => to.writable && to.write(chunk)));
    from.on('error', () => from.destroy());
    from.on('close', () => {
      sockets.delete(from);
      pass(() => to.destroy());
    });
  };
  const server = createServer((near) => {
    const far = connect(Number(targetPort), hostname);
    join(near, far);
    join(far, near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const through = (url: string): string => {
    const changed = new URL(url);
    changed.port = String(port);
    return changed.href;
  };
  const release = (): void => {
    const steps = held ?? [];
    held = undefined;
    for (const step of steps) step();
  };
  const cut = async (): Promise<void> => {
    held = undefined;
    for (const socket of sockets) socket.destroy();
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    await closed;
  };
  return {
    url: through(target),
    through,
    cut,
    leadTo(url) {
      ({ port: targetPort, hostname } = new URL(url));
    },
    stall() {
      held ??= [];
    },
    stallOpen() {
      for (const socket of sockets) socket.removeAllListeners('data').resume();
    },
    async restore() {
      release();
      if (server.listening) return;
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close: cut,
  };
}
