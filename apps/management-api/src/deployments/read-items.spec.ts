import { nextSlice } from '@glovebox/expressions';
import { readItems } from './read-items';

it('a large set lets others be served while it is read', async () => {
  const rules = Array.from({ length: 100 }, () => ({
    ...{ priority: 1, container: '/general/', transform: 'reveal', permissions: ['token:use'] },
  }));
  const items = Array.from({ length: 200 }, (_, n) => ({
    ...{ kind: 'application', slug: `a-${n}`, name: 'A', type: 'private', rules },
  }));
  let isOver = false;
  let longestMs = 0;
  const reading = readItems(items).finally(() => (isOver = true));
  while (!isOver) {
    const before = process.cpuUsage();
    await nextSlice();
    const { user, system } = process.cpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
  }
  expect(await reading).toHaveLength(200);
  // One item at a time. In one piece all take 400 ms.
  expect(longestMs).toBeLessThan(100);
});
