import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

const sweepMs = 100;
/**
 * Time for callers that keep a connection to hear, with their next answer, that it was the last.
 */
const graceMs = 1_000;
/** The longest run of a reactor is 210 s. */
export const callsMayTakeMs = 215_000;

interface Open {
  /** Each connection with the answers that are due on it. */
  readonly sockets: Map<Socket, Set<ServerResponse>>;
  closing: boolean;
}

const openOf = new WeakMap<Server, Open>();

/**
 * Notes the open connections and answers of a server for closeServer(). Call it after the listeners
 * of the server are attached and before it listens. Upgraded connections count, too; http forgets
 * them.
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
    // Node 20 and 22 emit no end of an answer whose turn never came: it goes with its connection.
    socket.once('close', () => open.sockets.delete(socket));
    return answers;
  };
  server.on('connection', answersOn);
  // One function for all answers: this is the hot path of every service.
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
  // A first listener for this event would take the request away from `request`.
  if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', note);
  return open;
}

/**
 * Stops accepting and waits for the calls under way. Callers that keep their connection are told
 * with their next answer that it is the last one; callers that send nothing more are disconnected.
 * Upgraded connections end when no call is left. Whatever is still open at the limit is cut off.
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
  // http's own close() would at once cut off a caller that is about to use a kept connection.
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
