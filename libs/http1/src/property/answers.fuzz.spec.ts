import { testSeed } from '@glovebox/testing';
import { checkCases } from './check';

it('100,000 answers, mutated and in parts, are to us what they are to llhttp, or refused', async () => {
  const { accepted, refused } = await checkCases(testSeed(), 100_000);
  expect(accepted).toBeGreaterThan(20_000);
  expect(refused).toBeGreaterThan(20_000);
}, 120_000);
