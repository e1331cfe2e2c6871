import { inSlices, type Work } from '../bounds/time-slices';
import { malformed } from './expression';

const open = 0x7b;
const close = 0x7d;
const bar = 0x7c;
const dash = 0x2d;
const blanks: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n\v\f'));
const dashesOfUuid: ReadonlySet<number> = new Set([8, 13, 18, 23]);
const uuidLength = 36;

/** How far an expression has come; each character of its UUID is one further. */
const [outside, brace, opened, spaced] = [0, 1, 2, 3];
const named = spaced + uuidLength;
const closing = named + 1;
const found = closing + 1;

const unfilled = 'stands in a body in which none is replaced, because its media type is no text';

/** Bytes between two points where other calls may be served. */
const lookedAtOnce = 64 * 1024;

/**
 * Looks for an expression with a UUID in bytes where none is replaced, however they are cut into
 * parts. Only its head counts: binary data may hold braces. Looks at each byte once.
 */
class UnfilledExpressions {
  #state = outside;
  #lookedAt = 0;
  #startAt = 0;

  constructor(private readonly bytesMax: number) {}

  get isDone(): boolean {
    return this.#lookedAt >= this.bytesMax;
  }

  *refuseIn(bytes: Buffer): Work<void> {
    const looked = bytes.subarray(0, this.bytesMax - this.#lookedAt);
    for (let at = 0; at < looked.length; at += lookedAtOnce) {
      this.#lookAt(looked.subarray(at, at + lookedAtOnce));
      yield;
    }
  }

  #lookAt(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === outside) {
        at = bytes.indexOf(open, at);
        if (at < 0) break;
      }
      this.#state = stateAfter(this.#state, bytes[at] ?? 0);
      if (this.#state === opened) this.#startAt = this.#lookedAt + at - 1;
      if (this.#state === found) throw malformed(String(this.#startAt), unfilled);
      at += 1;
    }
    this.#lookedAt += bytes.length;
  }
}

function stateAfter(state: number, byte: number): number {
  if (state === closing && byte === close) return found;
  if (state === named) {
    if (byte === bar) return found;
    if (byte === close) return closing;
    if (blanks.has(byte)) return named;
  } else if (state > spaced && state < named) {
    if (isOfUuid(byte, state - spaced)) return state + 1;
  } else if (state === opened || state === spaced) {
    if (isOfUuid(byte, 0)) return spaced + 1;
    if (blanks.has(byte)) return spaced;
  }
  if (byte !== open) return outside;
  return state === brace || state === opened ? opened : brace;
}

function isOfUuid(byte: number, index: number): boolean {
  if (dashesOfUuid.has(index)) return byte === dash;
  const lower = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66);
}

/**
 * Refuses a body in which no expression is replaced when it holds one: its destination would get it
 * as it was written.
 */
export function refuseUnfilled(body: Buffer, bytesMax: number): Work<void> {
  return new UnfilledExpressions(bytesMax).refuseIn(body);
}

/** Passes the bytes on as they come. Those behind the first `bytesMax` are not looked at. */
export async function* refuseUnfilledStream(
  source: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<Buffer, void, undefined> {
  const unfilled = new UnfilledExpressions(bytesMax);
  for await (const chunk of source) {
    if (!unfilled.isDone) await inSlices(unfilled.refuseIn(chunk));
    yield chunk;
  }
}
