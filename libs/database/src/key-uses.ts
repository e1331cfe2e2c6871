import type { Sql } from './database';

/** A little more than the minute that the database keeps between two writes of one key. */
const quietMs = 61_000;

/**
 * Records when API keys were last used, to the minute. A call only leaves the hash of its key in
 * memory. A moment later one statement writes all hashes of that time. A failed write is left to
 * the next use of the key: no call waits for it or fails because of it.
 */
export class KeyUses {
  /** By key, the time until which its next uses need no record. */
  readonly #quietUntil = new Map<string, number>();
  readonly #noted = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #writing = Promise.resolve();

  constructor(
    private readonly sql: Sql,
    private readonly onFault: (error: unknown) => void,
    private readonly delayMs = 1_000,
  ) {}

  note(keyHash: string): void {
    const now = performance.now();
    if ((this.#quietUntil.get(keyHash) ?? 0) > now) return;
    this.#quietUntil.delete(keyHash);
    this.#quietUntil.set(keyHash, now + quietMs);
    this.#noted.add(keyHash);
    this.#timer ??= setTimeout(() => this.#write(), this.delayMs).unref();
  }

  async stop(): Promise<void> {
    this.#write();
    await this.#writing;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#forgetOld();
    if (this.#noted.size === 0) return;
    const hashes = [...this.#noted];
    this.#noted.clear();
    this.#writing = this.#writing
      .then(() => this.sql.query('SELECT record_key_uses($1)', [hashes]))
      .then(
        () => undefined,
        (error: unknown) => {
          for (const hash of hashes) this.#quietUntil.delete(hash);
          this.onFault(error);
        },
      );
  }

  #forgetOld(): void {
    const now = performance.now();
    for (const [hash, until] of this.#quietUntil) {
      // The map is in the order in which they were noted: all that follow are newer.
      if (until > now) return;
      this.#quietUntil.delete(hash);
    }
  }
}
