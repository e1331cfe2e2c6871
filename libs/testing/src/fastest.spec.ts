import { fastest } from './fastest';

it('the fastest time ends at the first within the limit, and after six in any case', async () => {
  const times = [9, 8, 3, 1];
  expect(await fastest(5, () => times.shift() ?? 0)).toBe(3);
  expect(times).toEqual([1]);
  let asked = 0;
  expect(await fastest(5, () => Promise.resolve(10 - (asked += 1) / 10))).toBe(9.4);
  expect(asked).toBe(6);
});
