import { checkCases } from './check';

it('1,000,000 random texts expand like a slow reference, whole and in chunks', async () => {
  const seed = Date.now() % 2 ** 32;
  expect(await checkCases(seed, 1_000_000)).toBeGreaterThan(200_000);
}, 1_200_000);
