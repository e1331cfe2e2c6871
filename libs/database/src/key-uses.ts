import type { Sql } from './database';

/** A little more than the minute that the database keeps between two writes of a key. */
const quietMs = 61_000;

/**
 * When API keys were last used, to the minute. A call only leaves its key's hash here, in memory; a
 * moment later one statement writes all that came together. What cannot be written is left to the
 * key's next use: no call waits for it or fails with it.
 */
export class KeyUses {
  /** Until when a key's further uses say nothing new. */
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
      // In the order in which they were noted: all that follow are newer.
      if (until > now) return;
      this.#quietUntil.delete(hash);
    }
  }
}
