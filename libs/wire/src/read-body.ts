import type { IncomingMessage } from 'node:http';
import { Problem } from '@glovebox/problems';
import { takeTurns } from './discard-rest';

/** The limits of reading a body into memory. */
export interface Reading {
  /** The longest pause between two parts, and the longest time for the whole body. */
  readonly idleMs: number;
  readonly wholeMs: number;
  /** Throws when there is no room for so many more bytes. */
  readonly keep: (bytes: number) => void;
  /** After this time the beginning that has come is enough. */
  readonly enoughMs?: number | undefined;
}

/**
 * Reads the whole body, or throws 413 as soon as it is known to be too large. `admit` sees each
 * part before it is kept, and may throw.
 */
export async function readBody(
  req: IncomingMessage,
  bytesMax: number,
  reading: Reading,
  admit?: (chunk: Buffer) => void,
): Promise<Buffer> {
  const length = Number(req.headers['content-length'] ?? 0);
  const { bytes, isWhole } =
    length > bytesMax
      ? { bytes: null, isWhole: false }
      : await readAtMost(req, bytesMax, reading, admit);
  if (bytes && isWhole) return bytes;
  throw new Problem('payload_too_large', {
    detail: `The body is limited to ${bytesMax} bytes.`,
  });
}

/**
 * Reads the body, or the beginning of one that is too large; the rest then waits. It does not
 * iterate over the request: leaving such a loop destroys the connection, and with it the answer
 * that says why.
 */
export function readAtMost(
  req: IncomingMessage,
  bytesMax: number,
  { idleMs, wholeMs, keep, enoughMs }: Reading,
  admit: (chunk: Buffer) => void = () => undefined,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  return new Promise((resolve, reject) => {
    const declared = Number(req.headers['content-length'] ?? Infinity);
    const collected = new Collected(Math.min(declared, bytesMax), keep);
    const endAt = performance.now() + wholeMs;
    const collect = (chunk: Buffer): void => {
      try {
        if (collected.length + chunk.length <= bytesMax) admit(chunk);
        collected.add(chunk);
      } catch (thrown) {
        return settle(() => reject(thrown as Problem));
      }
      if (collected.length > bytesMax) settle(() => resolve(outcome(false)));
      else if (performance.now() > endAt) tooSlow();
      else {
        timer.refresh();
        if (collected.length > readAtOnce) takeTurns(req, () => !isSettled);
      }
    };
    const outcome = (isWhole: boolean) => ({ bytes: collected.bytes, isWhole });
    const end = (): void => settle(() => resolve(outcome(true)));
    const breakOff = (): void => settle(() => reject(badBody('The body broke off.')));
    const tooSlow = (): void => settle(() => reject(badBody('The body came too slowly.', 408)));
    let isSettled = false;
    const settle = (how: () => void): void => {
      isSettled = true;
      clearTimeout(timer);
      clearTimeout(enough);
      req.off('data', collect).off('end', end).off('error', breakOff).off('close', breakOff);
      req.pause();
      how();
    };
    const timer = setTimeout(tooSlow, Math.min(idleMs, wholeMs));
    const stop = (): void => settle(() => resolve(outcome(false)));
    const enough = enoughMs === undefined ? undefined : setTimeout(stop, enoughMs);
    req.on('data', collect).once('end', end).once('error', breakOff).once('close', breakOff);
    // The caller left before anybody read; the event has been emitted already.
    if (req.destroyed && !req.readableEnded) breakOff();
  });
}

const badBody = (detail: string, status = 400): Problem =>
  new Problem('invalid_request', { detail, status });

/** A body that is larger is read part by part. */
const readAtOnce = 64 * 1024;
const firstBytes = 16 * 1024;

/** One buffer that grows: a kept chunk of one byte would take a hundred. */
export class Collected {
  length = 0;
  #buffer: Buffer | undefined;

  constructor(
    private readonly bytesMax: number,
    private readonly keep: (bytes: number) => void,
  ) {}

  get bytes(): Buffer {
    return this.#buffer?.subarray(0, this.length) ?? Buffer.alloc(0);
  }

  add(chunk: Buffer): void {
    const length = this.length + chunk.length;
    // Most bodies arrive in one chunk.
    if (this.length === 0 && length >= this.bytesMax) {
      this.keep(length);
      this.#buffer = chunk;
    } else chunk.copy(this.#roomFor(length), this.length);
    this.length = length;
  }

  #roomFor(length: number): Buffer {
    const before = this.#buffer;
    const had = before?.length ?? 0;
    if (before && length <= had) return before;
    const size = Math.max(length, Math.min(Math.max(2 * had, firstBytes), this.bytesMax));
    this.keep(size - had);
    const larger = Buffer.allocUnsafeSlow(size);
    before?.copy(larger);
    this.#buffer = larger;
    return larger;
  }
}
