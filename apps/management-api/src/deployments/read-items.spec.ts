import { nextSlice } from '@glovebox/expressions';
import { fastest } from '@glovebox/testing';
import { readItems } from './read-items';

it('a large set lets others be served while it is read', async () => {
  const rules = Array.from({ length: 100 }, () => ({
    ...{ priority: 1, container: '/general/', transform: 'reveal', permissions: ['token:use'] },
  }));
  const items = Array.from({ length: 200 }, (_, n) => ({
    ...{ kind: 'application', slug: `a-${n}`, name: 'A', type: 'private', rules },
  }));
  const longestMs = async (): Promise<number> => {
    let isOver = false;
    let longest = 0;
    const reading = readItems(items).finally(() => (isOver = true));
    while (!isOver) {
      const before = process.cpuUsage();
      await nextSlice();
      const { user, system } = process.cpuUsage(before);
      longest = Math.max(longest, (user + system) / 1_000);
    }
    expect(await reading).toHaveLength(200);
    return longest;
  };
  // One item at a time. In one piece all take 400 ms.
  expect(await fastest(100, longestMs)).toBeLessThan(100);
});
