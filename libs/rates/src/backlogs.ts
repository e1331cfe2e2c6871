import { Problem } from '@glovebox/problems';

/** A caller may make the calls of so long a time at once, and then as many as the limit says. */
export const windowMs = 60_000;

/** The calls of one caller that the limit has not yet worked off. */
export interface Backlog {
  readonly id: string;
  /** The time of this process at which all calls are worked off. */
  until: number;
  /** Calls that the other processes do not know of yet. */
  fresh: number;
}

/**
 * Counts the calls of callers in this process. Hot path: one look into a map and two comparisons. A
 * bounded number of callers is remembered, in two generations: when the younger one is full, those
 * who have not called since it began are forgotten.
 */
export class Backlogs {
  /** The time that the limit takes to work off one call. */
  readonly #callMs: number;
  #younger = new Map<string, Backlog>();
  #older = new Map<string, Backlog>();

  constructor(
    perMinute: number,
    private readonly rememberedMax: number,
  ) {
    this.#callMs = windowMs / perMinute;
  }

  get size(): number {
    return this.#younger.size + this.#older.size;
  }

  /** Counts a call, or refuses it. A refused call counts for nothing. */
  count(id: string, now = performance.now()): Backlog {
    const backlog = this.#younger.get(id) ?? this.#remember(id);
    const begin = Math.max(backlog.until, now);
    const excessMs = begin - now + this.#callMs - windowMs;
    if (excessMs > 0) {
      const retryAfterSeconds = Math.ceil(excessMs / 1_000);
      throw new Problem('rate_limited', { retryAfterSeconds });
    }
    backlog.until = begin + this.#callMs;
    backlog.fresh += 1;
    return backlog;
  }

  /** Takes the fresh calls of a caller, as the time that they take to be worked off. */
  takeFresh(backlog: Backlog): number {
    const takenMs = backlog.fresh * this.#callMs;
    backlog.fresh = 0;
    return takenMs;
  }

  /** Learns the backlog of all processes, which knows nothing of the calls since it was asked for. */
  learn(backlog: Backlog, sharedMs: number, now = performance.now()): void {
    backlog.until = Math.max(backlog.until, now + sharedMs + backlog.fresh * this.#callMs);
  }

  #remember(id: string): Backlog {
    const backlog = this.#older.get(id) ?? { id, until: 0, fresh: 0 };
    if (this.#younger.size >= this.rememberedMax / 2) {
      this.#older = this.#younger;
      this.#younger = new Map();
    } else this.#older.delete(id);
    this.#younger.set(id, backlog);
    return backlog;
  }
}
