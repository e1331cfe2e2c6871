import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from '../project/bundle';
import { givenMapOf } from './given-map';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'glovebox-inspected-')));
afterAll(() => rmSync(root, { recursive: true }));

const urlOf = (name: string): string => pathToFileURL(join(root, name)).href;

function write(name: string, text: string): string {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
  return name;
}

function read(url: string): SourceMapPayload & { readonly sourcesContent: (string | null)[] } {
  const [head, text = ''] = url.split(',');
  expect(head).toBe('data:application/json;charset=utf-8;base64');
  return JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as ReturnType<typeof read>;
}

it('files of the author are there by their URLs, with what is in them', async () => {
  const helper = write('lib/a b.ts', 'export const twice = (n: number): number => n * 2;\n');
  const text = `import { twice } from '../../lib/a b';\nexport default () => twice(4);\n`;
  const file = write('reactors/x/code.ts', text);
  const map = read(givenMapOf(root, await bundle(root, { file, runtime: 'node20' })));
  const contents = new Map(map.sources.map((url, nth) => [url, map.sourcesContent[nth]]));
  expect(contents.get(urlOf(helper))).toContain('twice');
  expect(contents.get(urlOf(file))).toBe(text);
  const others = map.sources.filter((url) => ![urlOf(helper), urlOf(file)].includes(url));
  expect(others.map((url) => [url, contents.get(url)])).toEqual([
    [expect.stringMatching(/^bundled:.*glovebox-entry\.js$/), null],
  ]);
});

it('each line of code that is not bundled is the same line of its file', async () => {
  const file = write('reactors/y/code.js', 'module.exports = () => {\n  return 1;\n};\n');
  const map = read(givenMapOf(root, await bundle(root, { file, runtime: 'node20' })));
  expect(map.sources).toEqual([urlOf(file)]);
  const found = [0, 1, 2].map((line) => new SourceMap(map).findEntry(line, 0));
  expect(found).toMatchObject(
    [0, 1, 2].map((line) => ({ originalSource: urlOf(file), originalLine: line })),
  );
});

it('code that is too long for a resource keeps the names of its variables for a debugger', async () => {
  const long = `export const long = [\n${'0,\n'.repeat(20_000)}];\n`;
  write('reactors/z/long.ts', long);
  const text = `import { long } from './long';\nexport default (aNumber: number) => long.at(aNumber);\n`;
  const code = { file: write('reactors/z/code.ts', text), runtime: 'node20' };
  expect((await bundle(root, code)).code).not.toContain('aNumber');
  expect((await bundle(root, code, true)).code).toContain('aNumber');
});

it('the source map of a package opens no file that is not in the bundle', () => {
  write('secret.txt', 'secret');
  const map = JSON.stringify({ version: 3, sources: ['secret.txt', '../x'], mappings: 'AAAA' });
  const given = read(givenMapOf(root, { file: 'a.ts', code: '', map, inputs: ['a.ts'] }));
  expect(given.sources).toEqual(['bundled:///secret.txt', 'bundled:///../x']);
  expect(given.sourcesContent).toEqual([null, null]);
});
