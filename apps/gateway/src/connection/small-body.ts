import { Problem } from '@glovebox/problems';
import { deadlines, type Limited } from '@glovebox/service-host';
import type { Reading } from '@glovebox/wire';
import type { CallerRequest } from './caller-request';
import type { CallerResponse, UnderWay } from './caller-response';

/** A body of at most this declared size is read as it leaves Node's parser. */
const smallBodyBytes = 128 * 1024;

/**
 * A small body that comes in more parts is collected in one buffer: each part takes a hundred bytes
 * besides its own.
 */
const partsKept = 8;
const noBytes = Buffer.alloc(0);

/** True for a body that its head declares to be small and of which nothing has come yet. */
export function isSmallBody(req: CallerRequest, bytesMax: number): boolean {
  const length = req.headers['content-length'];
  if (length === undefined || Number(length) > Math.min(smallBodyBytes, bytesMax)) return false;
  return !req.complete && !req.destroyed && req.readableLength === 0;
}

/**
 * Reads the whole of a small body, in a few parts. Hot path: one object for each, and no listener.
 */
export function readSmallBody(
  req: CallerRequest,
  res: CallerResponse,
  reading: Reading,
): Promise<readonly Buffer[]> {
  return new Promise((resolve, reject) => {
    new SmallBody(req, res, reading, resolve, reject).read();
  });
}

/** Most small bodies come in one part. */
export function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return parts.length === 1 && only ? only : Buffer.concat(parts);
}

class SmallBody implements Limited, UnderWay {
  place = -1;
  dueAt = 0;
  readonly #parts: Buffer[] = [];
  /** Of the declared length. The bytes behind the first ones have not come yet. */
  #collected: Buffer | undefined;
  #collectedBytes = 0;
  readonly #endAt: number;

  constructor(
    private readonly req: CallerRequest,
    private readonly res: CallerResponse,
    private readonly reading: Reading,
    private readonly resolve: (parts: readonly Buffer[]) => void,
    private readonly reject: (problem: unknown) => void,
  ) {
    this.#endAt = performance.now() + reading.wholeMs;
  }

  read(): void {
    this.res.exchange = this;
    deadlines.set(this, Math.min(this.reading.idleMs, this.reading.wholeMs));
    this.req.giveBodyTo((chunk) => this.#take(chunk));
  }

  #take(chunk: Buffer | null): void {
    if (chunk === null) {
      this.#settle();
      const collected = this.#collected?.subarray(0, this.#collectedBytes);
      return this.resolve(collected ? [collected] : this.#parts);
    }
    try {
      this.#add(chunk);
    } catch (refused) {
      return this.#refuse(refused);
    }
    if (performance.now() > this.#endAt) this.expire();
    else deadlines.set(this, this.reading.idleMs);
  }

  #add(chunk: Buffer): void {
    const parts = this.#parts;
    if (parts.length === 0) this.reading.keep(this.#declared);
    if (parts.length < partsKept) return void parts.push(chunk);
    if (!this.#collected) {
      this.#collected = Buffer.allocUnsafeSlow(this.#declared);
      for (const part of parts) this.#collect(part, this.#collected);
      parts.fill(noBytes);
    }
    this.#collect(chunk, this.#collected);
  }

  #collect(part: Buffer, collected: Buffer): void {
    this.#collectedBytes += part.copy(collected, this.#collectedBytes);
  }

  get #declared(): number {
    return Number(this.req.headers['content-length']);
  }

  expire(): void {
    this.#refuse(
      new Problem('invalid_request', { status: 408, detail: 'The body came too slowly.' }),
    );
  }

  callerLeft(): void {
    this.#refuse(new Problem('invalid_request', { detail: 'The body broke off.' }));
  }

  #refuse(problem: unknown): void {
    this.#settle();
    this.reject(problem);
  }

  #settle(): void {
    deadlines.clear(this);
    this.res.exchange = undefined;
    this.req.giveBodyTo(undefined);
  }
}
