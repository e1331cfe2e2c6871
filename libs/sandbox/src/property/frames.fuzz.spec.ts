import { testSeed } from '@glovebox/testing';
import { checkStreams } from './check';

it('10,000 mutated streams in chunks are read like a plain decoder reads them, or refused', () => {
  const { frames, accepted, refused } = checkStreams(testSeed(), 10_000);
  expect(frames).toBeGreaterThan(5_000);
  expect(accepted).toBeGreaterThan(1_000);
  expect(refused).toBeGreaterThan(1_000);
});
