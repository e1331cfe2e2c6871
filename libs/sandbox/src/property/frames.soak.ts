import { testSeed } from '@glovebox/testing';
import { checkStreams } from './check';

it('1,000,000 mutated streams are read like a plain decoder reads them, and leave no memory behind', () => {
  const seed = testSeed();
  checkStreams(seed, 10_000);
  const before = process.memoryUsage().rss;
  const { refused } = checkStreams(seed + 1, 1_000_000);
  expect(refused).toBeGreaterThan(100_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1024 * 1024);
}, 3_600_000);
