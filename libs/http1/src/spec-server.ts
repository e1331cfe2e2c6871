import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Connection, type ConnectionOwner } from './connection';
import type { ClientRequest } from './client-request';
import { Recorder } from './spec-recorder';

export type Behaviour = (socket: Socket, received: string) => void;

/** Starts a server that handles each part that it gets by the test's own code. */
export async function startServer() {
  let behave: Behaviour = () => undefined;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    socket.on('data', (part) => behave(socket, part.toString('latin1')));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    open,
    does(next: Behaviour): void {
      behave = next;
    },
    async connect(): Promise<SpecConnectionOwner> {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      return new SpecConnectionOwner(socket);
    },
    async close(): Promise<void> {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export type Server = Awaited<ReturnType<typeof startServer>>;

/** A connection and the calls that its owner has received. */
export class SpecConnectionOwner implements ConnectionOwner {
  readonly events: string[] = [];
  readonly connection: Connection;

  constructor(readonly socket: Socket) {
    this.connection = new Connection(socket, this);
  }

  free(): void {
    this.events.push('free');
  }

  closed(): void {
    this.events.push('closed');
  }

  ask(request: Partial<ClientRequest> = {}, recorder = new Recorder()): Promise<Recorder> {
    this.connection.send(requestOf(request), recorder);
    return recorder.over;
  }
}

export function requestOf(request: Partial<ClientRequest> = {}): ClientRequest {
  return {
    method: 'GET',
    target: '/',
    host: 'example.test',
    headers: [],
    body: null,
    upgrade: null,
    ...request,
  };
}

export const ok = (body: string, headers = ''): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;
