import type { IncomingMessage } from 'node:http';

/**
 * Lets other sockets be read before the next part of this body, if that part is still wanted. Node
 * reads up to 2 MiB at once from a socket that has more to give.
 */
export function takeTurns(req: IncomingMessage, isWanted: () => boolean = () => true): void {
  req.pause();
  setImmediate(() => {
    if (isWanted()) req.resume();
  });
}

/** The limits of a body that nobody wants any more. */
const readOnBytesMax = 64 * 1024 * 1024;
const readOnMs = 10_000;

/**
 * Reads and discards the rest of a body whose request has been answered, within limits. If the
 * connection were closed over unread bytes, TCP would reset it and the answer would be lost.
 */
export function readOn(req: IncomingMessage): void {
  if (req.complete || req.destroyed) return;
  const end = (): void => void req.socket.destroy();
  const timer = setTimeout(end, readOnMs).unref();
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > readOnBytesMax) end();
    else takeTurns(req);
  });
  req.once('close', () => clearTimeout(timer));
  req.resume();
}
