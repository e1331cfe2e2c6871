import type { IncomingMessage } from 'node:http';

/** Of a body that nobody wants any more. */
export const readOnBytesMax = 64 * 1024 * 1024;
export const readOnMs = 10_000;

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
  });
  req.once('close', () => clearTimeout(timer));
  req.resume();
}
