import type { Shares } from '@glovebox/shares';
import { untilAborted } from '../abort';

interface LookUp {
  readonly answer: Promise<readonly string[]>;
  readonly abandoned: AbortController;
  waiting: number;
}

/**
 * Look-ups of names under way, each on a place of its tenant: a silent name server holds only the
 * places of the tenants that use it. Calls of a tenant for one name share a look-up.
 */
export class LookUps {
  readonly #underWay = new Map<string, LookUp>();

  constructor(
    private readonly places: Shares,
    private readonly resolve: (name: string, signal: AbortSignal) => LookUp['answer'],
  ) {}

  /** Rejects at once, with a Problem, when the owner's share is used up. */
  async addressesOf(name: string, owner: string, signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted();
    const key = `${owner} ${name}`;
    const lookUp = this.#underWay.get(key) ?? this.#begin(key, name, owner);
    lookUp.waiting += 1;
    try {
      return await untilAborted(lookUp.answer, signal);
    } finally {
      lookUp.waiting -= 1;
      if (lookUp.waiting === 0) {
        this.#forget(key, lookUp);
        lookUp.abandoned.abort();
      }
    }
  }

  #begin(key: string, name: string, owner: string): LookUp {
    const release = this.places.takeNow(owner);
    const abandoned = new AbortController();
    const answer = this.resolve(name, abandoned.signal).finally(() => {
      release();
      this.#forget(key, lookUp);
    });
    const lookUp: LookUp = { answer, abandoned, waiting: 0 };
    this.#underWay.set(key, lookUp);
    return lookUp;
  }

  #forget(key: string, lookUp: LookUp): void {
    if (this.#underWay.get(key) === lookUp) this.#underWay.delete(key);
  }
}
