import { SourceMap, type SourceMapPayload } from 'node:module';
import { buildSync } from 'esbuild';
import { sourcePlaces } from './source-places';

const source = (name: string, lines: number): string =>
  Array.from(
    { length: lines },
    (_, nth) => `export const ${name}${nth} = (a: number): number => a + ${nth};`,
  ).join('\n');

/** A bundle of TypeScript with its map, as the command line makes it. */
function bundled(text: string, minify = false): { code: string; map: string } {
  const { outputFiles } = buildSync({
    stdin: { contents: text, loader: 'ts', sourcefile: 'code.ts' },
    ...{ bundle: true, format: 'cjs', write: false, minify, outfile: 'reactor.js' },
    ...{ sourcemap: 'external', sourcesContent: false },
  });
  const textOf = (end: string): string =>
    outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  return { code: textOf('.js'), map: textOf('.map') };
}

/** Places all over the code. */
const placesIn = (code: string) =>
  code
    .split('\n')
    .flatMap((line, nth) =>
      [1, 5, 17, 60, 400, 5_000, 7_000, 9_000, 11_000]
        .filter((column) => column <= line.length)
        .map((column) => ({ line: nth + 1, column })),
    );

it.each([false, true])(
  'places are those that Node.js finds in the map of a bundle, minified: %s',
  (minify) => {
    const { code, map } = bundled(source('value', 400), minify);
    const known = new SourceMap(JSON.parse(map) as SourceMapPayload);
    const wanted = placesIn(code);
    expect(wanted.length).toBeGreaterThan(3);
    const found = sourcePlaces(map, wanted, () => 0);
    const expected = wanted.map(({ line, column }) => {
      const entry = known.findEntry(line - 1, column - 1);
      if (!('originalSource' in entry)) return undefined;
      const { originalSource, originalLine, originalColumn } = entry;
      // Node.js looks in the lines before as well.
      if (entry.generatedLine !== line - 1) return undefined;
      return { source: originalSource, line: originalLine + 1, column: originalColumn + 1 };
    });
    expect(found).toEqual(expected);
    expect(found.filter(Boolean).length).toBeGreaterThan(2);
  },
);

const place = { line: 1, column: 1 };

it.each([
  ['no JSON', '{'],
  ['null', 'null'],
  ['of another version', '{"version":2,"sources":["a.ts"],"mappings":"AAAA"}'],
  ['with nested sources', '{"version":3,"sources":["a.ts",[]],"mappings":"AAAA"}'],
  [
    'with a member that is nested',
    '{"version":3,"sources":["a.ts"],"mappings":"AAAA","x":{"y":1}}',
  ],
  [
    'with too many sources',
    JSON.stringify({ version: 3, sources: Array(10_001).fill('a.ts'), mappings: 'AAAA' }),
  ],
  ['without sources', '{"version":3,"mappings":"AAAA"}'],
  ['with an unknown digit', '{"version":3,"sources":["a.ts"],"mappings":"AA*A"}'],
  ['with a number without end', `{"version":3,"sources":["a.ts"],"mappings":"${'g'.repeat(40)}"}`],
  ['with too many numbers', '{"version":3,"sources":["a.ts"],"mappings":"AAAAAA"}'],
  ['that ends within a number', '{"version":3,"sources":["a.ts"],"mappings":"AAAg"}'],
  ['that leads before the first line', '{"version":3,"sources":["a.ts"],"mappings":"AADA"}'],
])('a map that is wrong is as none: %s', (_, map) => {
  expect(sourcePlaces(map, [place])).toEqual([undefined]);
});

it('a source whose name is too long, or that is no text, is none', () => {
  const mapOf = (source: unknown) =>
    JSON.stringify({ version: 3, sources: [source], mappings: 'AAAA' });
  expect(sourcePlaces(mapOf('a'.repeat(400)), [place])).toEqual([
    { ...place, source: 'a'.repeat(400) },
  ]);
  expect(sourcePlaces(mapOf('a'.repeat(401)), [place])).toEqual([undefined]);
  expect(sourcePlaces(mapOf(7), [place])).toEqual([undefined]);
});

it('a map that takes longer than 50 ms is as none, and is left in the middle', () => {
  const map = JSON.stringify({ version: 3, sources: ['a.ts'], mappings: 'AAAA,'.repeat(100_000) });
  const wanted = [{ line: 1, column: 1 }];
  let now = 0;
  let looks = 0;
  const slow = (): number => {
    looks += 1;
    return (now += 20);
  };
  expect(sourcePlaces(map, wanted, slow)).toEqual([undefined]);
  expect(looks).toBeLessThan(6);
  expect(sourcePlaces(map, wanted, () => 0)).toEqual([{ line: 1, column: 1, source: 'a.ts' }]);
});

it('quotes and brackets within texts are no part of the shape of a map', () => {
  const source = 'a "[{[{ \\\\';
  const map = JSON.stringify({ version: 3, sources: [source], mappings: 'AAAA' });
  expect(sourcePlaces(map, [place])).toEqual([{ ...place, source }]);
});

const list = (length: number, value: string): string =>
  `[${Array.from({ length }, () => value).join()}]`;
/** Members of a map beside the three that it needs. */
const members = (count: number): string =>
  Array.from({ length: count }, (_, nth) => `"x${nth}":1,`).join('');
const mapWith = (sources: string, more = ''): string =>
  `{${more}"version":3,"sources":${sources},"mappings":"AAAA"}`;

it.each([
  ['10,000 sources', mapWith(list(10_000, '"a.ts"')), mapWith(list(10_001, '"a.ts"'))],
  ['32 members', mapWith('["a.ts"]', members(29)), mapWith('["a.ts"]', members(30))],
  [
    '100,000 values',
    mapWith('["a.ts"]', `"names":${list(99_998, '1')},`),
    mapWith('["a.ts"]', `"names":${list(99_999, '1')},`),
  ],
])('a map with more than %s is as none', (_, largest, larger) => {
  expect(sourcePlaces(largest, [place], () => 0)).toEqual([{ ...place, source: 'a.ts' }]);
  expect(sourcePlaces(larger, [place], () => 0)).toEqual([undefined]);
});

it.each([
  ['nested lists', `{"x":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)},`],
  ['empty lists', `{"x":[${'[],'.repeat(600_000)}0],`],
  ['members', `{${Array.from({ length: 150_000 }, (_, nth) => `"${nth}":1,`).join('')}`],
  ['values', `{"x":[${'1.5,'.repeat(500_000)}1],`],
])('a map with very many %s is never parsed', (_, head) => {
  const parse = jest.spyOn(JSON, 'parse');
  try {
    const map = `${head}"version":3,"sources":["a.ts"],"mappings":"AAAA"}`;
    expect(sourcePlaces(map, [place])).toEqual([undefined]);
    expect(parse).not.toHaveBeenCalled();
  } finally {
    parse.mockRestore();
  }
});

it('the clock is looked at after as many places as it is after segments', () => {
  const map = JSON.stringify({ version: 3, sources: ['a.ts'], mappings: 'AAAA,'.repeat(4_000) });
  const wanted = Array.from({ length: 1_000 }, (_, nth) => ({ line: 1, column: nth + 1 }));
  let now = 0;
  const slow = (): number => (now += 20);
  expect(sourcePlaces(map, wanted, slow)[0]).toBeUndefined();
  expect(now).toBeLessThan(200);
});
