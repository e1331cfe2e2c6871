import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface RawDestination {
  readonly url: string;
  /** The head of each request, and what came of its body with it. */
  readonly requests: string[];
  /** Connections that are open now. */
  readonly open: ReadonlySet<Socket>;
  close(): Promise<void>;
}

/** A destination that says whatever bytes it likes, once the head of a request is there. */
export async function startRawDestination(
  answer: (socket: Socket, request: string) => void,
): Promise<RawDestination> {
  const requests: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (!received.includes('\r\n\r\n') || !/^[A-Z]+ \//.test(received)) return;
      const request = received;
      received = '';
      requests.push(request);
      answer(socket, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    open,
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
