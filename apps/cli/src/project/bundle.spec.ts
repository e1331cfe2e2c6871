import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundle } from './bundle';
import { Positions, type CodePlace } from './positions';

const around = realpathSync(mkdtempSync(join(tmpdir(), 'glovebox-bundled-')));
const root = join(around, 'projects', 'shop');
afterAll(() => rmSync(around, { recursive: true }));

const file = 'reactors/total/code.ts';
const files = {
  [file]: `import { add } from '../../lib/add';
export default async ({ args }: { args: { some: number[] } }) => ({ raw: args.some.reduce(add, 0) });
`,
  'lib/add.ts': `export const add = (one: number, other: number): number => one + other;
`,
};

function write(name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}
beforeAll(() => Object.entries(files).forEach(([name, text]) => write(name, text)));

const bundled = () => bundle(root, { file, runtime: 'node20' });

/** Where the code says this. */
function placeIn(code: string, text: string): CodePlace {
  const before = code.slice(0, code.indexOf(text)).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

it('the files of a bundle are those of the author, without the line that the bundler adds', async () => {
  const { inputs } = await bundled();
  expect([...inputs].sort()).toEqual(Object.keys(files).sort());
});

it('a place in a bundle is that of the file it came from, and the line of the bundler has none', async () => {
  const made = await bundled();
  const positions = new Positions(root, made);
  const place = positions.placeOf(placeIn(made.code, 'one + other'));
  expect(place).toMatchObject({ file: 'lib/add.ts', line: 1 });
  expect(place && positions.excerpt(place)).toContain('1 | export const add');
  const { line, column } = placeIn(made.code, 'module.exports = code');
  expect(positions.placeOf({ line, column })).toBeUndefined();
  const text = `at reactor.js:${line}:${column}`;
  expect(positions.inText(text)).toBe(text);
});

describe('files outside of the project', () => {
  const other = 'reactors/other/code.ts';
  const importing = (what: string) => {
    write(other, `import some from '${what}'; export default () => ({ raw: some });\n`);
    return bundle(root, { file: other, runtime: 'node20' });
  };
  const refused = (what: string) =>
    expect(importing(what)).rejects.toThrow(/is outside of the folder of the project/);
  const shared = 'export default 7;\n';
  const packageOf = (main: string) => JSON.stringify({ name: 'of-shop', main });

  it('are in no bundle, whether they are imported by a path, a link or a package of the folder', async () => {
    write('../../secret.json', '{"key":"secret"}');
    write('../../secret.txt', 'secret');
    write('../../secret.ts', shared);
    symlinkSync('../../secret.json', join(root, 'linked.json'));
    symlinkSync('../..', join(root, 'above'));
    mkdirSync(join(root, 'node_modules'));
    symlinkSync('../../..', join(root, 'node_modules/above'));
    for (const name of ['secret.json', 'secret.txt', 'secret']) {
      await refused(`../../../../${name}`);
      await refused(`../../above/${name}`);
      await refused(`above/${name}`);
    }
    await refused('../../linked.json');
  });

  it('are not sent in the place of code', async () => {
    write('../../secret.json', '{"key":"secret"}');
    for (const end of ['ts', 'js']) {
      mkdirSync(join(root, `reactors/linked-${end}`), { recursive: true });
      const file = `reactors/linked-${end}/code.${end}`;
      symlinkSync('../../../../secret.json', join(root, file));
      await expect(bundle(root, { file, runtime: 'node20' })).rejects.toThrow(/out of|outside of/);
    }
  });

  it('are bundled if they are code and data of a package above the folder', async () => {
    write('../../node_modules/of-shop/package.json', packageOf('./main.js'));
    write(
      '../../node_modules/of-shop/main.js',
      "module.exports = [require('./table.json'), 'of-package'];",
    );
    write('../../node_modules/of-shop/table.json', '{"of":"table"}');
    const { code } = await importing('of-shop');
    expect(code).toContain('of-package');
    expect(code).toContain('of: "table"');
  });

  it('are bundled if they are code of the workspace of the folder, and not if they are its data', async () => {
    write('../../packages/shared/package.json', packageOf('./main.ts'));
    write('../../packages/shared/main.ts', "export default 'of-workspace';\n");
    write('../../packages/shared/data.json', '{}');
    mkdirSync(join(around, 'node_modules'), { recursive: true });
    symlinkSync('../packages/shared', join(around, 'node_modules/shared'));
    await refused('shared');
    for (const [marker, text] of [
      ['../../package.json', '{"workspaces":["packages/*"]}'],
      ['../../pnpm-workspace.yaml', 'packages: []\n'],
    ] as const) {
      write(marker, text);
      expect((await importing('shared')).code).toContain('of-workspace');
      await refused('shared/data.json');
      rmSync(join(root, marker));
    }
    await refused('shared');
  });

  it('are not shown where a source map of the code names them', () => {
    write('../../secret.txt', 'secret');
    const positions = new Positions(root, { file, inputs: [file] });
    expect(positions.excerpt({ file, line: 1, column: 1 })).toContain('import');
    expect(positions.excerpt({ file: '../../secret.txt', line: 1, column: 1 })).toBeUndefined();
  });
});
