import { checkCases } from './check';

it('100,000 random texts expand like a slow reference, whole and in chunks', async () => {
  const seed = Date.now() % 2 ** 32;
  const replaced = await checkCases(seed, 100_000);
  expect(replaced).toBeGreaterThan(20_000);
}, 120_000);
