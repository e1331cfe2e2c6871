import { testSeed } from '@glovebox/testing';
import { checkCases } from './check';

it('100,000 mutated answers in parts are read like llhttp reads them, or refused', async () => {
  const { accepted, refused } = await checkCases(testSeed(), 100_000);
  expect(accepted).toBeGreaterThan(20_000);
  expect(refused).toBeGreaterThan(20_000);
}, 120_000);
