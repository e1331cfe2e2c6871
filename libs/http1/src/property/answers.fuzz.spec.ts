import { testSeed } from '@glovebox/testing';
import { checkCases } from './check';

it('25,000 mutated answers in parts are read like llhttp reads them, or refused', async () => {
  const { accepted, refused } = await checkCases(testSeed(), 25_000);
  expect(accepted).toBeGreaterThan(5_000);
  expect(refused).toBeGreaterThan(5_000);
});
