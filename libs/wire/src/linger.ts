import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const lingerMs = 10_000;
const lingers = Symbol('lingers');

type Lingering = Duplex & { [lingers]?: true };

/** Makes a server linger behind each answer that ends its connection. */
export function lingerBehindAnswers(server: Server): void {
  server.on('connection', (socket: Socket) => {
    // Node calls it behind such an answer, and would close at once.
    socket.destroySoon = () => linger(socket);
  });
}

/**
 * Ends our side of a connection, and drops all that still comes until the caller ends its own. TCP
 * resets a connection that is closed over unread bytes, and the answer is lost with it.
 */
export function linger(socket: Lingering): void {
  if (socket[lingers]) return;
  socket[lingers] = true;
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
}

export function isLingering(socket: Lingering): boolean {
  return socket[lingers] === true;
}
