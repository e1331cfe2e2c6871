import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { problemCatalogue } from './catalogue';

const read = (page: string): string => readFileSync(join(__dirname, '../../../docs', page), 'utf8');

it('docs/reference/errors.md has one line for each code, with its status, and none for any other', () => {
  const lines = [...read('reference/errors.md').matchAll(/^\| `(\w+)` +\| (\d{3})\b/gm)];
  const documented = lines.map(([, code, status]) => `${code} ${status}`);
  const known = Object.entries(problemCatalogue).map(([code, { status }]) => `${code} ${status}`);
  expect(documented.sort()).toEqual(known.sort());
});

it('docs/failure-modes.md has lines only for codes of the catalogue', () => {
  const codes = [...read('failure-modes.md').matchAll(/^\| `(\w+)` +\|/gm)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(0);
  expect(codes.filter((code = '') => !Object.hasOwn(problemCatalogue, code))).toEqual([]);
});
