import { existsSync } from 'node:fs';
import { longest, longestFirst } from './longest-first.mjs';

it('the specs that are begun first exist', () => {
  expect(longest.length).toBeGreaterThan(0);
  expect(longest.filter((file) => !existsSync(file))).toEqual([]);
});

it('the specs that take longest are begun first, and no spec is left out', () => {
  const [slowest = '', second = ''] = longest;
  const tests = ['/one.spec.ts', second, '/two.spec.ts', slowest].map((path) => ({ path }));
  const paths = longestFirst(tests).map(({ path }) => path);
  expect(paths).toEqual([slowest, second, '/one.spec.ts', '/two.spec.ts']);
});
