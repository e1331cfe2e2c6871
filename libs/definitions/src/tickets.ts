/** A ticket is worth a lease; an older one is worth nothing, and is forgotten. */
const worthMs = 1_000;

/**
 * When this process drew which ticket, on its own monotonic clock. Nobody else's clock counts: a
 * relay only says after which ticket it looked at Postgres.
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
