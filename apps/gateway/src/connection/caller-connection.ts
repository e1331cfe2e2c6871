import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem } from '@glovebox/problems';
import { traceHeader } from '@glovebox/wire';
import type { CallerResponse } from './caller-response';
import { isForwarded } from './request-body';

/** The last answer begun on each connection: answers leave in the order of their requests. */
const latest = Symbol('latest');
/** What is read of it from now on is nobody's. */
const lingers = Symbol('lingers');

type Connection = Duplex & { [latest]?: CallerResponse; [lingers]?: true };

/**
 * False: an answer before this one ends the connection. What is behind it may be the rest of a body
 * that two servers end at different places, and is never served. Node would serve it.
 */
export function maySpeak(req: IncomingMessage, res: CallerResponse): boolean {
  const connection: Connection = req.socket;
  const before = connection[latest];
  if (before && !before.writableFinished) closeWith(req.socket, res);
  if (before && !before.shouldKeepAlive) {
    endConnection(before);
    return false;
  }
  connection[latest] = res;
  // Of an offer that is not taken up, Node drops what came with it: nothing can be read behind it.
  if (req.headers.upgrade !== undefined) res.shouldKeepAlive = false;
  return true;
}

/** A response whose turn never comes is told of no end by Node, and neither is who waits for it. */
function closeWith(socket: Duplex, res: CallerResponse): void {
  const close = (): void => {
    if (res.socket) return;
    res.destroyed = true;
    res.emit('close');
  };
  socket.once('close', close);
  res.once('close', () => socket.off('close', close));
}

/** Is an earlier request of this connection still waiting for its answer? */
export function isBusy(socket: Connection): boolean {
  const last = socket[latest];
  return last !== undefined && !last.writableFinished;
}

/** This answer is the connection's last. */
export function endConnection(res: ServerResponse): void {
  const { req } = res;
  res.shouldKeepAlive = false;
  req.socket.destroySoon = () => {
    linger(req.socket);
    req.resume();
  };
}

const lingerMs = 5_000;

/**
 * Closed over bytes that nobody has read, TCP resets the connection, and the answer is lost with it:
 * a caller that is still sending gets time to read why it should not.
 */
function linger(socket: Connection): void {
  socket[lingers] = true;
  socket.end();
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * What Node's parser refuses, or waits for in vain, is answered in the common form all the same. As
 * the rest of a request that has begun it is that request's problem, for `answer` to tell.
 */
export function refuseUnparsable(
  error: Error & { code?: string },
  socket: Connection,
  answer: (res: CallerResponse, problem: Problem) => void,
): void {
  if (socket[lingers]) return;
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const problem = new Problem('invalid_request', { status: statuses[error.code ?? ''] ?? 400 });
  const last = socket[latest];
  if (!last || (last.req.complete && last.writableFinished)) return answerUnread(socket, problem);
  if (last.req.complete) return endBehind(last);
  if (last.headersSent) return void socket.destroy();
  endConnection(last);
  answer(last, problem);
  // Nobody else tells who reads this body that the rest of it will not come.
  socket.once('close', () => last.req.destroy());
}

/**
 * The time for a whole request is over. One whose body is being forwarded lives on, and the exchange with
 * the destination ends it when it stands still. Node tells of each request once: what is left of the
 * body when that exchange is over gets the same time anew.
 */
export function refuseLate(
  error: Error & { code?: string },
  socket: Connection,
  answer: (res: CallerResponse, problem: Problem) => void,
  requestTimeoutMs: number,
): void {
  const last = socket[latest];
  if (!last || last.req.complete || !isForwarded(last.req)) {
    return refuseUnparsable(error, socket, answer);
  }
  setTimeout(() => {
    if (last.req.complete || socket.destroyed) return;
    refuseLate(error, socket, answer, requestTimeoutMs);
  }, requestTimeoutMs).unref();
}

/** No request, no response object: the answer is written as it goes over the wire. */
function answerUnread(socket: Duplex, problem: Problem): void {
  const { status } = problem;
  const body = JSON.stringify(problem.body());
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n${traceHeader}: ${randomUUID()}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
  linger(socket);
}

/** The request before what cannot be read is whole and under way: it gets its answer, then the end. */
function endBehind(last: CallerResponse): void {
  if (last.headersSent) last.once('finish', () => linger(last.req.socket));
  endConnection(last);
}
