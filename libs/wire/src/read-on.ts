import type { IncomingMessage } from 'node:http';

/**
 * Lets other sockets be read before the next part of this body, if it is wanted then: of one that has
 * more to give, Node reads up to 2 MiB at once.
 */
export function takeTurns(req: IncomingMessage, isWanted: () => boolean = () => true): void {
  req.pause();
  setImmediate(() => {
    if (isWanted()) req.resume();
  });
}

/** Of a body that nobody wants any more. */
const readOnBytesMax = 64 * 1024 * 1024;
const readOnMs = 10_000;

/**
 * For a request that is answered before its body is through. Closed over bytes that nobody has read,
 * TCP resets the connection, and the answer is lost with it: what is left is taken in and thrown
 * away, until it is more than anybody would wait for.
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
