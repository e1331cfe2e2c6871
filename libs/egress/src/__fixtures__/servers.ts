import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import type { TLSSocket } from 'node:tls';

export interface Listening {
  readonly port: number;
  readonly connections: Socket[];
  /** The SNI name of each TLS connection; `false` for none. */
  readonly serverNames: Array<string | false>;
  close(): Promise<void>;
}

export async function startTcpServer(
  onConnection: (socket: Socket) => void,
  host = '127.0.0.1',
  port = 0,
): Promise<Listening> {
  return listening(createTcpServer(onConnection), host, port);
}

export async function startHttpServer(answer: RequestListener): Promise<Listening> {
  return listening(createHttpServer(answer), '127.0.0.1', 0);
}

export async function startHttpsServer(
  certificate: { readonly cert: string; readonly key: string },
  answer: RequestListener,
  options: { ca?: string; requestCert?: boolean } = {},
): Promise<Listening> {
  return listening(createHttpsServer({ ...certificate, ...options }, answer), '127.0.0.1', 0);
}

async function listening(server: Server, host: string, port: number): Promise<Listening> {
  const connections: Socket[] = [];
  const serverNames: Array<string | false> = [];
  server.on('connection', (socket: Socket) => {
    connections.push(socket);
    socket.on('error', () => undefined);
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    serverNames.push((socket as unknown as { servername: string | false }).servername);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    serverNames,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of connections) socket.destroy();
      }),
  };
}
