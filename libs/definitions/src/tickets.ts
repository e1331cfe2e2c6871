/** A ticket is worth a lease. An older one is worthless, and forgotten. */
const worthMs = 1_000;

/**
 * The tickets that this process drew, with the times on its own monotonic clock. No other clock
 * counts: a relay only says after which ticket it read Postgres.
 */
export class Tickets {
  #last = 0;
  #drawn: { readonly ticket: number; readonly at: number }[] = [];

  draw(at: number): number {
    this.#drawn = this.#drawn.filter((drawn) => drawn.at > at - worthMs);
    this.#last += 1;
    this.#drawn.push({ ticket: this.#last, at });
    return this.#last;
  }

  drawnAt(ticket: number): number | undefined {
    return this.#drawn.find((drawn) => drawn.ticket === ticket)?.at;
  }
}
