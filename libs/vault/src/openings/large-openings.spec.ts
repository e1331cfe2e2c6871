import { fastest } from '@glovebox/testing';
import { LargeOpenings, openingRestMaxMs } from './large-openings';

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

it('a tenant that opens much without end uses its place for half of the time', async () => {
  const openings = new LargeOpenings();
  const begunAt = performance.now();
  let busyMs = 0;
  for (let nth = 0; nth < 5; nth += 1) {
    await openings.hold('a', async () => {
      const at = performance.now();
      await after(20);
      busyMs += performance.now() - at;
    });
  }
  expect(performance.now() - begunAt).toBeGreaterThan(1.7 * busyMs);
});

it('a look-up that fails rests as well, and one that took long rests no longer than the limit', async () => {
  const restMs = async (): Promise<number> => {
    const openings = new LargeOpenings();
    let failedAt = 0;
    const failing = openings.hold('a', async () => {
      await after(4 * openingRestMaxMs);
      failedAt = performance.now();
      throw new Error('broken');
    });
    await expect(failing).rejects.toThrow('broken');
    await openings.hold('a', () => Promise.resolve());
    const restedMs = performance.now() - failedAt;
    expect(restedMs).toBeGreaterThan(openingRestMaxMs * 0.95);
    return restedMs;
  };
  const limitMs = openingRestMaxMs * 3.5;
  expect(await fastest(limitMs, restMs)).toBeLessThan(limitMs);
});

it('another tenant opens much meanwhile', async () => {
  const waitMs = async (): Promise<number> => {
    const openings = new LargeOpenings();
    await openings.hold('a', () => after(500));
    const at = performance.now();
    await openings.hold('b', () => Promise.resolve());
    return performance.now() - at;
  };
  const limitMs = openingRestMaxMs * 0.9;
  expect(await fastest(limitMs, waitMs)).toBeLessThan(limitMs);
});
