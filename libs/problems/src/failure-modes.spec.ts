import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { problemCatalogue } from './catalogue';

const page = readFileSync(join(__dirname, '../../../docs/failure-modes.md'), 'utf8');

it('docs/failure-modes.md has one line for each code, with its status, and none for any other', () => {
  const lines = [...page.matchAll(/^\| `(\w+)` +\| (\d{3})\b/gm)];
  const documented = lines.map(([, code, status]) => `${code} ${status}`);
  const known = Object.entries(problemCatalogue).map(([code, { status }]) => `${code} ${status}`);
  expect(documented.sort()).toEqual(known.sort());
});
