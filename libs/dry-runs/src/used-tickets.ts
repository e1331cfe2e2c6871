import { Problem } from '@glovebox/problems';
import { validMaxMs, type Ticket } from './ticket';

/** Far more than the places of dry runs can use in the time of a ticket. */
const usedMax = 20_000;

/**
 * Whoever sees an order on its way could send it again while its ticket is valid. So each is used
 * once in this process, which remembers it for at least as long, in two generations.
 */
export class UsedTickets {
  #younger = new Set<string>();
  #older = new Set<string>();
  #until = 0;

  constructor(private readonly max = usedMax) {}

  get size(): number {
    return this.#younger.size + this.#older.size;
  }

  /** Throws where the ticket was used, or where one more could not be remembered. */
  use({ proof }: Pick<Ticket, 'proof'>, now = performance.now()): void {
    if (now >= this.#until) {
      this.#older = now < this.#until + validMaxMs ? this.#younger : new Set();
      this.#younger = new Set();
      this.#until = now + validMaxMs;
    }
    if (this.#younger.has(proof) || this.#older.has(proof)) {
      throw new Problem('conflict', {
        detail: 'The order of this ticket was carried out already.',
      });
    }
    if (this.size >= this.max) throw new Problem('no_capacity', { retryAfterSeconds: 1 });
    this.#younger.add(proof);
  }
}
