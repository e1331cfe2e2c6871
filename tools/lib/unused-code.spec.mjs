import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { repoRoot } from './repo.mjs';
import { unusedCode } from './unused-code.mjs';

describe('the check of unused code', () => {
  /**
   * What it finds in a repository with these files, as `path: name`, or as the path of a file.
   *
   * @param {Record<string, string>} files
   */
  async function unusedIn(files) {
    const root = mkdtempSync(join(tmpdir(), 'glovebox-unused-'));
    try {
      const paths = { '@glovebox/a': ['./libs/a/src/index.ts'] };
      const all = {
        'package.json': '{}',
        'tsconfig.json': JSON.stringify({ compilerOptions: { paths } }),
        ...files,
      };
      for (const [file, text] of Object.entries(all)) {
        mkdirSync(dirname(join(root, file)), { recursive: true });
        writeFileSync(join(root, file), text);
      }
      copyFileSync(join(repoRoot, 'knip.config.js'), join(root, 'knip.config.js'));
      const rows = (await unusedCode(root)).split('\n').filter((row) => !/^(Unused|$)/.test(row));
      const found = rows.map((row) => {
        const [, name, file] = /^(\S+)\s.*?(\S+?):\d+:\d+\s*$/.exec(row) ?? [];
        return name === undefined ? row.trim() : `${file}: ${name}`;
      });
      return [...new Set(found)].sort();
    } finally {
      rmSync(root, { recursive: true });
    }
  }

  it('finds a constant, a function, a class and a type that nothing imports, and an unused file', async () => {
    const found = await unusedIn({
      'libs/a/src/one.ts':
        'export const a = 1;\nexport function b() {}\nexport class C {}\nexport type D = 1;\nexport const e = 1;',
      'libs/a/src/two.ts': 'export const f = 1;',
      'tools/main.mjs': 'export const g = 1;',
      'apps/x/src/main.ts': `import { e } from '../../../libs/a/src/one';\nconsole.log(e);`,
    });
    expect(found).toEqual([
      'libs/a/src/one.ts: C',
      'libs/a/src/one.ts: D',
      'libs/a/src/one.ts: a',
      'libs/a/src/one.ts: b',
      'libs/a/src/two.ts',
      'tools/main.mjs: g',
    ]);
  });

  it('lets pass what is imported by name, under another name, by require and as a type', async () => {
    const used = await unusedIn({
      'tools/lib/one.mjs':
        'export const a = 1;\nexport const b = 2;\nexport const c = 3;\n/** @typedef {1} F */',
      'tools/lib/two.js': 'exports.d = 4;',
      'tools/lib/three.js': 'module.exports = { e: 5 };',
      'tools/main.mjs': `import { a, b as other } from './lib/one.mjs';\nconst { c } = await import('./lib/one.mjs');\n/** @type {import('./lib/one.mjs').F} */\nconsole.log(a, other, c);`,
      'tools/more.mjs': `import './lib/four.js';`,
      'tools/lib/four.js': `const { d } = require('./two.js');\nconst { e } = require('./three.js');\nconsole.log(d, e);`,
    });
    expect(used).toEqual([]);
  });

  it('finds a re-export that no other library imports, together with its origin', async () => {
    const found = await unusedIn({
      'libs/a/src/one.ts': 'export const a = 1;\nexport const b = 2;',
      'libs/a/src/index.ts': `export { a, b } from './one';`,
      'apps/x/src/main.ts': `import { a } from '@glovebox/a';\nconsole.log(a);`,
    });
    expect(found).toEqual(['libs/a/src/index.ts: b', 'libs/a/src/one.ts: b']);
  });

  it('finds code that only specs use, of other projects as well, and lets pass an inner part', async () => {
    const found = await unusedIn({
      'libs/a/src/one.ts':
        'export const dead = 1;\nexport const inner = 2;\nexport const offered = 3;\nexport const used = inner;',
      'libs/a/src/lost.ts': 'export const lost = 1;',
      'libs/a/src/one.spec.ts': `import { dead, inner } from './one';\nimport { lost } from './lost';\nconsole.log(dead, inner, lost);`,
      'libs/a/src/index.ts': `export { offered, used } from './one';`,
      'apps/x/src/main.ts': `import { used } from '@glovebox/a';\nconsole.log(used);`,
      'apps/x/src/main.spec.ts': `import { offered } from '@glovebox/a';\nconsole.log(offered);`,
    });
    expect(found).toEqual([
      'libs/a/src/lost.ts',
      'libs/a/src/one.ts: dead',
      'libs/a/src/one.ts: offered',
    ]);
  });

  it('lets a helper of the specs be used by specs alone', async () => {
    const found = await unusedIn({
      'libs/a/src/spec-one.ts': 'export const a = 1;\nexport const b = 2;',
      'libs/a/src/one.spec.ts': `import { a } from './spec-one';\nconsole.log(a);`,
    });
    expect(found).toEqual(['libs/a/src/spec-one.ts: b']);
  });
});
