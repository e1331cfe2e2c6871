import { percentileOf } from './call-counts';

const classes = (counts: Record<number, number>): number[] =>
  Array.from({ length: 16 }, (_, nth) => counts[nth] ?? 0);

it.each<[string, Record<number, number>, number, number | undefined]>([
  ['no calls have none', {}, 0.5, undefined],
  ['of one class lie within its bounds', { 3: 10 }, 0.5, 7.5],
  ['of the first class begin at 0', { 0: 4 }, 0.5, 0.5],
  ['may be the upper bound of a class', { 3: 50, 9: 50 }, 0.5, 10],
  ['may lie behind the bound of the class before', { 3: 50, 9: 50 }, 0.51, 510],
  ['of calls longer than all bounds are the last bound', { 15: 3 }, 0.5, 60_000],
  ['of few slow calls among many show the fast ones', { 0: 96, 15: 4 }, 0.95, 0.9896],
])('percentiles %s', (_, counts, share, ms) => {
  const found = percentileOf(classes(counts), share);
  expect(found === undefined ? found : Math.round(found * 10_000) / 10_000).toBe(ms);
});
