import { Problem } from '@glovebox/problems';

interface ShareLimits {
  /** The places of all owners together: calls, connections, bytes. */
  readonly places: number;
  /** The most that one owner holds, however much is left. */
  readonly ownerMax?: number;
  /** The longest that a request for a place may wait. 0: it is refused at once. */
  readonly waitMs?: number;
  /** Requests of one owner that may wait. */
  readonly waitingMax?: number;
}

/** Gives the places back. A second call does nothing. */
export type Release = () => void;

interface Waiter {
  readonly places: number;
  admit(): void;
}

interface Owner {
  held: number;
  readonly waiters: Set<Waiter>;
}

const retryAfterSeconds = 1;

/**
 * Shares the places of a resource between tenants by one rule: an owner holds at most half of what
 * the others leave. So one owner can take half, a second one a quarter, and there is always a place
 * for the next. An owner that finds no place waits in a queue of its own. Freed places go round the
 * queues, one place a turn.
 */
export class Shares {
  readonly #owners = new Map<string, Owner>();
  /** Owners with waiting requests. The first has the next turn. */
  readonly #turns = new Set<string>();
  #held = 0;
  #waiting = 0;
  #refusals = { own: 0, scarce: 0 };

  constructor(private readonly limits: ShareLimits) {}

  get state() {
    const { places } = this.limits;
    return { places, held: this.#held, waiting: this.#waiting, refusals: { ...this.#refusals } };
  }

  heldBy(owner: string): number {
    return this.#owners.get(owner)?.held ?? 0;
  }

  /** Takes places now or after a wait. Rejects with a Problem, or with the signal's reason. */
  async take(
    owner: string,
    { places = 1, signal }: { places?: number; signal?: AbortSignal } = {},
  ): Promise<Release> {
    signal?.throwIfAborted();
    const { waitMs = 0, waitingMax = 0 } = this.limits;
    const waiting = this.#owners.get(owner)?.waiters.size ?? 0;
    if (waiting === 0 && this.#fits(owner, places)) return this.#hand(owner, places);
    if (waitMs === 0 || waiting >= waitingMax) throw this.#refusal(owner);
    return this.#wait(owner, places, waitMs, signal);
  }

  /** True if the owner would get the places at once. */
  hasRoom(owner: string, places = 1): boolean {
    return this.#fits(owner, places);
  }

  /** Takes places at once, or throws a Problem. */
  takeNow(owner: string, places = 1): Release {
    if (!this.#fits(owner, places)) throw this.#refusal(owner);
    return this.#hand(owner, places);
  }

  /**
   * Takes places at once, or throws a Problem. Give them back by `leave`, each once. Hot path: the
   * caller remembers how many it holds, and no object is made.
   */
  enter(owner: string, places = 1): void {
    if (!this.#fits(owner, places)) throw this.#refusal(owner);
    this.#take(owner, places);
  }

  leave(owner: string, places = 1): void {
    this.#giveBack(owner, places);
  }

  /** Does the work on one place. */
  async hold<Result>(
    owner: string,
    work: () => Promise<Result>,
    options?: { places?: number; signal?: AbortSignal },
  ): Promise<Result> {
    const release = await this.take(owner, options);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** The first request of an owner only has to find room: a newcomer may have the last place. */
  #fits(owner: string, places: number): boolean {
    const { ownerMax = Infinity } = this.limits;
    const held = this.heldBy(owner);
    const leftByOthers = this.limits.places - (this.#held - held);
    const share = held === 0 ? leftByOthers : Math.ceil(leftByOthers / 2);
    return held + places <= Math.min(share, ownerMax);
  }

  #hand(owner: string, places: number): Release {
    this.#take(owner, places);
    let isHeld = true;
    return () => {
      if (isHeld) this.#giveBack(owner, places);
      isHeld = false;
    };
  }

  #take(owner: string, places: number): void {
    this.#ownerOf(owner).held += places;
    this.#held += places;
  }

  #giveBack(owner: string, places: number): void {
    this.#ownerOf(owner).held -= places;
    this.#held -= places;
    this.#forgetIfEmpty(owner);
    if (this.#turns.size > 0) this.#serve();
  }

  #wait(owner: string, places: number, waitMs: number, signal?: AbortSignal): Promise<Release> {
    const { waiters } = this.#ownerOf(owner);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        waiters.delete(waiter);
        this.#waiting -= 1;
        if (waiters.size === 0) this.#turns.delete(owner);
        this.#forgetIfEmpty(owner);
      };
      const abort = (): void => {
        leave();
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        places,
        admit: () => {
          const release = this.#hand(owner, places);
          leave();
          resolve(release);
        },
      };
      const timer = setTimeout(() => {
        leave();
        reject(this.#refusal(owner));
      }, waitMs);
      signal?.addEventListener('abort', abort, { once: true });
      waiters.add(waiter);
      this.#waiting += 1;
      this.#turns.add(owner);
    });
  }

  /**
   * Lets in one waiter of each owner in turn, until no place is left. An owner that was served goes
   * to the end, where this walk meets it again. One that did not fit keeps its turn: nothing that
   * this walk does makes room for it. Only owners that hold places are passed over, or ask for more
   * than one, so that a walk is short however many wait.
   */
  #serve(): void {
    for (const owner of this.#turns) {
      if (this.#held >= this.limits.places) return;
      const [first] = this.#owners.get(owner)?.waiters ?? [];
      if (!first || !this.#fits(owner, first.places)) continue;
      this.#turns.delete(owner);
      this.#turns.add(owner);
      first.admit();
    }
  }

  #ownerOf(owner: string): Owner {
    const known = this.#owners.get(owner);
    if (known) return known;
    const made: Owner = { held: 0, waiters: new Set() };
    this.#owners.set(owner, made);
    return made;
  }

  #forgetIfEmpty(owner: string): void {
    const known = this.#owners.get(owner);
    if (known?.held === 0 && known.waiters.size === 0) this.#owners.delete(owner);
  }

  /** An owner that holds or awaits places has too many requests. A newcomer has not. */
  #refusal(owner: string): Problem {
    const known = this.#owners.get(owner);
    if (known && (known.held > 0 || known.waiters.size > 0)) {
      this.#refusals.own += 1;
      return new Problem('share_exhausted', { retryAfterSeconds });
    }
    this.#refusals.scarce += 1;
    return new Problem('service_unavailable', { retryAfterSeconds });
  }
}
