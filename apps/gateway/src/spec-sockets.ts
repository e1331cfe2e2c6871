import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A caller's connection that sends raw bytes and keeps everything that comes back. */
export class RawCaller {
  readonly socket: Socket;
  /** The connection beneath TLS. */
  carrier: Socket;
  text = '';
  ended = false;

  /** Connects to a port, or takes a connection that is open. */
  constructor(to: number | Socket, bytes: string, localAddress = '127.0.0.1') {
    const host = '127.0.0.1';
    this.socket = typeof to === 'number' ? connect({ port: to, host, localAddress }) : to;
    this.carrier = this.socket;
    this.socket.setNoDelay(true);
    this.socket.on('data', (chunk) => (this.text += chunk.toString('latin1')));
    this.socket.on('end', () => (this.ended = true));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => (this.ended = true));
    this.socket.write(bytes, 'latin1');
  }

  /** Is gone at once. */
  reset(): void {
    this.carrier.resetAndDestroy();
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.text)?.[1]);
  }

  /** The body, if there is only one answer. */
  get json(): unknown {
    return JSON.parse(this.text.slice(this.text.indexOf('\r\n\r\n') + 4));
  }
}

export interface RawServer {
  readonly port: number;
  readonly url: string;
  readonly connections: { readonly socket: Socket; text: string; ended: boolean }[];
  /** The connection that received this text: some are opened before they are needed. */
  heard(part: string): { readonly socket: Socket; text: string; ended: boolean } | undefined;
  close(): Promise<void>;
}

/**
 * Starts a server that answers with raw bytes. `onData` gets all text of the connection so far, and
 * the new part of it.
 */
export async function startRawServer(
  onData: (socket: Socket, text: string, chunk: string) => void,
): Promise<RawServer> {
  const connections: RawServer['connections'] = [];
  const server = createServer((socket) => {
    const connection = { socket, text: '', ended: false };
    connections.push(connection);
    socket.on('data', (bytes) => {
      const chunk = bytes.toString('latin1');
      onData(socket, (connection.text += chunk), chunk);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => (connection.ended = true));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    connections,
    heard: (part) => connections.find(({ text }) => text.includes(part)),
    async close() {
      for (const { socket } of connections) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
