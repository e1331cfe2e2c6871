/** Something that ends when its time is up. */
export interface Limited {
  /** Its index in the list; -1 when it is not listed. */
  place: number;
  /** A time of `performance.now()`. */
  dueAt: number;
  expire(): void;
}

const lookEveryMs = 20;

/**
 * Time limits of calls, connections and runs. A plain list is checked every 20 ms instead of one Node
 * timer per limit: to begin, change or end a limit is to write a number.
 */
class Deadlines {
  readonly #limited: Limited[] = [];
  #timer: NodeJS.Timeout | undefined;

  set(limited: Limited, ms: number): void {
    limited.dueAt = performance.now() + ms;
    if (limited.place >= 0) return;
    limited.place = this.#limited.length;
    this.#limited.push(limited);
    this.#timer ??= setInterval(() => this.#look(), lookEveryMs).unref();
  }

  clear(limited: Limited): void {
    const { place } = limited;
    if (place < 0) return;
    limited.place = -1;
    const last = this.#limited.pop();
    if (!last || last === limited) return;
    last.place = place;
    this.#limited[place] = last;
  }

  #look(): void {
    if (this.#limited.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = performance.now();
    for (const limited of this.#limited.filter(({ dueAt }) => dueAt <= now)) {
      // A limit that expired may have ended others.
      if (limited.place < 0 || limited.dueAt > now) continue;
      this.clear(limited);
      limited.expire();
    }
  }
}

export const deadlines = new Deadlines();
