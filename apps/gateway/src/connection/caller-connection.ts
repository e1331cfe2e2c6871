import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem } from '@glovebox/problems';
import { isLingering, linger, traceHeader } from '@glovebox/wire';
import type { CallerResponse } from './caller-response';
import { isForwarded } from './request-body';

/** The last answer begun on each connection. Answers leave in the order of their requests. */
const latest = Symbol('latest');

/** The answers of a connection that were begun before their turn. */
const queued = Symbol('queued');

type Connection = Duplex & { [latest]?: CallerResponse; [queued]?: Set<CallerResponse> };

/**
 * False when an answer before this one ends the connection. The bytes behind it may be the rest of
 * a body that two servers end at different places. They are never served; Node would serve them.
 */
export function maySpeak(req: IncomingMessage, res: CallerResponse): boolean {
  const connection: Connection = req.socket;
  const before = connection[latest];
  if (before && !before.writableFinished) closeWith(req.socket, res);
  if (before && !before.shouldKeepAlive) return false;
  connection[latest] = res;
  // Node drops the bytes behind an offer that is not accepted, so nothing can be read after it.
  if (req.headers.upgrade !== undefined) res.shouldKeepAlive = false;
  return true;
}

/**
 * Node 20 and 22 do not report the end of a response whose turn never comes. Its waiters would wait
 * for ever. Node 24 reports it a tick later, once more: waiters must bear two ends.
 */
function closeWith(socket: Connection, res: CallerResponse): void {
  const answers = (socket[queued] ??= new Set<CallerResponse>());
  if (answers.size === 0) socket.once('close', closeQueued);
  answers.add(res);
  res.once('close', () => {
    answers.delete(res);
    if (answers.size === 0) socket.off('close', closeQueued);
  });
}

function closeQueued(this: Connection): void {
  for (const res of this[queued] ?? []) {
    if (res.socket) continue;
    res.destroyed = true;
    res.emit('close');
  }
}

/** The connection is a tunnel now: requests in it do not wait for the answer that opened it. */
export function startOver(socket: Connection): void {
  delete socket[latest];
}

/** True while an earlier request of this connection waits for its answer. */
export function isBusy(socket: Connection): boolean {
  const last = socket[latest];
  return last !== undefined && !last.writableFinished;
}

/** Makes this answer the connection's last. The rest of a body that was read in part is dropped. */
export function endConnection(res: ServerResponse): void {
  res.shouldKeepAlive = false;
  res.once('finish', () => res.req.resume());
}

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Gives the common answer to requests that Node's parser refuses or waits for in vain. If the bytes
 * belong to a request that has begun, `answer` reports the problem as that request's.
 */
export function refuseUnparsable(
  error: Error & { code?: string },
  socket: Connection,
  answer: (res: CallerResponse, problem: Problem) => void,
): void {
  if (isLingering(socket)) return;
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const problem = new Problem('invalid_request', { status: statuses[error.code ?? ''] ?? 400 });
  const last = socket[latest];
  if (!last || (last.req.complete && last.writableFinished)) return answerUnread(socket, problem);
  if (last.req.complete) return endBehind(last);
  if (last.headersSent) {
    // Through TLS an answer takes a moment to leave, in which more bytes may be refused.
    const isLeaving = last.writableEnded && !last.writableFinished;
    if (!isLeaving) socket.destroy();
    else if (last.shouldKeepAlive) endBehind(last);
    return;
  }
  endConnection(last);
  answer(last, problem);
  // Nothing else tells the reader of this body that the rest will not come.
  socket.once('close', () => last.req.destroy());
}

/**
 * Called when the time for a whole request is over. A request whose body is being forwarded lives
 * on: its exchange with the destination ends it when it stalls. Node reports each request once, so
 * the rest of the body gets the same time again after the exchange.
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

/** There is no request and no response object, so the answer is written byte by byte. */
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

/**
 * The request in front of unreadable bytes is whole and under way. It gets its answer, then the
 * connection ends.
 */
function endBehind(last: CallerResponse): void {
  if (last.headersSent) last.once('finish', () => linger(last.req.socket));
  endConnection(last);
}
