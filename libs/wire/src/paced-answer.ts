import type { ServerResponse } from 'node:http';
import { Problem } from '@glovebox/problems';

/** How fast a caller must read its answer. */
export interface Pace {
  /** The longest that the caller may take nothing. */
  readonly idleMs: number;
  /** The longest that the whole answer may take. */
  readonly wholeMs: number;
}

/** Handed to the operating system at once. A caller that takes it in time makes progress. */
const partBytes = 64 * 1024;

/** Writes an answer as its caller reads it. A caller that reads too slowly loses its connection. */
export class PacedAnswer {
  readonly #endAt: number;

  constructor(
    private readonly response: ServerResponse,
    private readonly pace: Pace,
  ) {
    this.#endAt = performance.now() + pace.wholeMs;
  }

  /** Resolves when the caller has room for more. Rejects when it has left. */
  async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; at += partBytes) {
      const part = bytes.subarray(at, at + partBytes);
      await this.#taken((taken) => this.response.write(part, taken));
    }
  }

  end(): Promise<void> {
    return this.#taken((taken) => this.response.end(taken));
  }

  #taken(hand: (taken: (error?: Error | null) => void) => void): Promise<void> {
    const { response, pace } = this;
    return new Promise((resolve, reject) => {
      const settle = (how: () => void): void => {
        clearTimeout(timer);
        response.off('close', leave);
        how();
      };
      const leave = (): void => settle(() => reject(callerLeft()));
      const cut = (): void => {
        leave();
        response.destroy();
      };
      const leftMs = Math.max(this.#endAt - performance.now(), 0);
      const timer = setTimeout(cut, Math.min(pace.idleMs, leftMs));
      response.once('close', leave);
      if (response.destroyed) leave();
      else hand((error) => (error ? leave() : settle(resolve)));
    });
  }
}

const callerLeft = (): Problem =>
  new Problem('invalid_request', { detail: 'The caller left before its answer.' });
