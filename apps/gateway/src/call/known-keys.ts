/** Keys whose hashes are remembered. */
export const knownKeysMax = 10_000;

/**
 * The hash of each key that calls have come with (docs/adr/0031). Only keys that were found are
 * remembered, so that guesses cannot push out the keys of others.
 */
export class KnownKeys {
  readonly #hashes = new Map<string, string>();

  hashOf(key: string): string | undefined {
    return this.#hashes.get(key);
  }

  remember(key: string, hash: string): void {
    if (this.#hashes.size >= knownKeysMax) this.#hashes.clear();
    this.#hashes.set(key, hash);
  }

  forget(key: string): void {
    this.#hashes.delete(key);
  }
}
