import { Pool } from 'undici';
import type { Egress } from '@glovebox/egress';

const idleMs = 60_000;

/** One pool of connections per origin, opened through the guarded connector and closed when idle. */
export class DestinationPools {
  readonly #pools = new Map<string, { pool: Pool; usedAt: number }>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(private readonly egress: Egress) {
    this.#sweeper = setInterval(() => this.#closeIdle(), idleMs);
    this.#sweeper.unref();
  }

  forOrigin(origin: string): Pool {
    const known = this.#pools.get(origin);
    if (known) {
      known.usedAt = performance.now();
      return known.pool;
    }
    const pool = new Pool(origin, {
      connect: this.egress.connector,
      connections: 1_024,
      pipelining: 1,
      keepAliveTimeout: 10_000,
      maxHeaderSize: 64 * 1024,
    });
    this.#pools.set(origin, { pool, usedAt: performance.now() });
    return pool;
  }

  get size(): number {
    return this.#pools.size;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#pools.values()].map(({ pool }) => pool.destroy()));
    this.#pools.clear();
  }

  #closeIdle(): void {
    const before = performance.now() - idleMs;
    for (const [origin, { pool, usedAt }] of this.#pools) {
      if (usedAt > before || pool.stats.running > 0 || pool.stats.pending > 0) continue;
      this.#pools.delete(origin);
      // A request that took the pool just now still gets its answer: close() waits for it.
      pool.close().catch(() => undefined);
    }
  }
}
