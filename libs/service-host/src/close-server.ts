import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

const sweepMs = 100;
/** Who keeps a connection hears with its next answer that it was the last one; so long may that take. */
const graceMs = 1_000;
/** The longest run of a reactor is 210 s. */
export const callsMayTakeMs = 215_000;

interface Open {
  /** Each connection, and the answers that are due on it. */
  readonly sockets: Map<Socket, Set<ServerResponse>>;
  closing: boolean;
}

const openOf = new WeakMap<Server, Open>();

/**
 * Notes what is open on a server, so that closeServer() can tell each of them: to be called before
 * the server listens, and after its listeners are there. Upgraded connections count as well, which
 * http itself forgets.
 */
export function watchServer(server: Server): void {
  openOf.set(server, watch(server));
}

function watch(server: Server): Open {
  const open: Open = { sockets: new Map(), closing: false };
  const answersOn = (socket: Socket): Set<ServerResponse> => {
    const known = open.sockets.get(socket);
    if (known) return known;
    const answers = new Set<ServerResponse>();
    open.sockets.set(socket, answers);
    // Of an answer whose turn never came, Node tells no end: it is forgotten with its connection.
    socket.once('close', () => open.sockets.delete(socket));
    return answers;
  };
  server.on('connection', answersOn);
  // One for all answers: it is on the hot path of every service.
  const forget = function (this: ServerResponse): void {
    open.sockets.get(this.req.socket)?.delete(this);
  };
  const note = (req: IncomingMessage, res: ServerResponse): void => {
    if (open.closing) res.shouldKeepAlive = false;
    if (req.socket.closed) return;
    const answers = answersOn(req.socket);
    answers.add(res);
    res.on('close', forget);
  };
  server.prependListener('request', note);
  // A listener for it where there is none would take the request away from `request`.
  if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', note);
  return open;
}

/**
 * Stops accepting and waits for what is under way. Callers that keep their connection are told with
 * their next answer that it is the last one; those that say nothing more are disconnected. What
 * was upgraded ends when no call is left, and whatever is still open at the limit is cut off.
 */
export async function closeServer(
  server: Server,
  { limitMs = callsMayTakeMs }: { limitMs?: number } = {},
): Promise<void> {
  if (!server.listening) return;
  const open = openOf.get(server) ?? watch(server);
  const closed = once(server, 'close');
  open.closing = true;
  const answers = (): ServerResponse[] => [...open.sockets.values()].flatMap((due) => [...due]);
  for (const res of answers()) res.shouldKeepAlive = false;
  // http's own close() would cut off at once who is just about to ask on a connection it keeps.
  NetServer.prototype.close.call(server);

  const begunAt = performance.now();
  let quietSince = begunAt;
  const sweeping = setInterval(() => {
    const now = performance.now();
    if (answers().length > 0) quietSince = now;
    if (now - begunAt > graceMs) server.closeIdleConnections();
    if (now - quietSince > 2 * graceMs || now - begunAt > limitMs) {
      for (const socket of open.sockets.keys()) socket.destroy();
    }
  }, sweepMs);
  await closed;
  clearInterval(sweeping);
}
