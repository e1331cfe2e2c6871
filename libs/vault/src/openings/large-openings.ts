import { Shares } from '@glovebox/shares';

/** Look-ups that open much, under way in one process. */
const largeOpeningsMax = 2;
const largeOpeningWaitMs = 5_000;
/** Look-ups of one tenant that wait. */
const waitingOpeningsMax = 50;
/** The longest that a place stays taken behind a look-up. */
export const openingRestMaxMs = 250;

/**
 * Places for look-ups that open much. Behind each one its place stays taken for as long as it took:
 * a tenant that opens much without end leaves half of this thread, and of Postgres, to others.
 */
export class LargeOpenings {
  readonly shares = new Shares({
    places: largeOpeningsMax,
    waitMs: largeOpeningWaitMs,
    waitingMax: waitingOpeningsMax,
  });

  async hold<Result>(tenantId: string, work: () => Promise<Result>): Promise<Result> {
    const release = await this.shares.take(tenantId);
    const begunAt = performance.now();
    try {
      return await work();
    } finally {
      const restMs = Math.min(performance.now() - begunAt, openingRestMaxMs);
      setTimeout(release, restMs).unref();
    }
  }
}
