import { checkCases } from './check';

it('25,000 random texts expand like a slow reference, whole and in chunks', async () => {
  const seed = Date.now() % 2 ** 32;
  const replaced = await checkCases(seed, 25_000);
  expect(replaced).toBeGreaterThan(5_000);
});
