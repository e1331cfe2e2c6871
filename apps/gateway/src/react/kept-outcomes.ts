import type { Database } from '@glovebox/database';
import { bytesOfRuns, rowBytes } from '@glovebox/idempotency';
import { Problem } from '@glovebox/problems';

/** Between two counts, each gateway adds what it keeps itself. */
const countedAnewMs = 60_000;
const tenantsMax = 10_000;

interface Count {
  bytes: number;
  readonly at: number;
}

/** A tenant's share of the outcomes that are kept for calls with an idempotency key. */
export class KeptOutcomes {
  readonly #counts = new Map<string, Promise<Count>>();

  constructor(
    private readonly database: Pick<Database, 'shareOf'>,
    private readonly bytesMax: number,
  ) {}

  /**
   * Refuses a call whose outcome would find no room, before it begins. Returns a function that gives
   * the room of its row back: the row of a call that is refused later is deleted.
   */
  async requireRoom(tenantId: string): Promise<() => void> {
    const count = await this.#countOf(tenantId);
    if (count.bytes >= this.bytesMax) {
      throw new Problem('share_exhausted', {
        detail: 'Too many outcomes of calls with an idempotency key are kept for this tenant.',
        retryAfterSeconds: Math.ceil(countedAnewMs / 1_000),
      });
    }
    count.bytes += rowBytes;
    return () => {
      count.bytes -= rowBytes;
    };
  }

  async add(tenantId: string, bytes: number): Promise<void> {
    (await this.#countOf(tenantId)).bytes += bytes;
  }

  async #countOf(tenantId: string): Promise<Count> {
    const known = this.#counts.get(tenantId);
    if (known) {
      const count = await known;
      if (performance.now() - count.at < countedAnewMs) return count;
      // Another call may have begun to count meanwhile.
      if (this.#counts.get(tenantId) !== known) return this.#countOf(tenantId);
    }
    if (this.#counts.size >= tenantsMax) this.#counts.clear();
    const counting = this.#count(tenantId);
    this.#counts.set(tenantId, counting);
    counting.catch(() => {
      if (this.#counts.get(tenantId) === counting) this.#counts.delete(tenantId);
    });
    return counting;
  }

  async #count(tenantId: string): Promise<Count> {
    const at = performance.now();
    return { bytes: await bytesOfRuns(this.database.shareOf(tenantId), tenantId), at };
  }
}
