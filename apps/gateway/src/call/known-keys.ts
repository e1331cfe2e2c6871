/** Keys whose hashes are remembered. */
export const knownKeysMax = 10_000;

/**
 * Hashes of the keys that calls have come with, by the key: docs/adr/0031. Only of keys that were found,
 * so that nobody who guesses pushes out those of others.
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
