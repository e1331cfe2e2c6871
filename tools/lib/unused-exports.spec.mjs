import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unusedExports } from './unused-exports.mjs';

describe('the check of unused exports', () => {
  /**
   * The unused exports of a repository that holds these files.
   *
   * @param {Record<string, string>} files
   */
  function unusedIn(files) {
    const root = mkdtempSync(join(tmpdir(), 'glovebox-exports-'));
    try {
      const paths = { '@glovebox/a': ['./libs/a/src/index.ts'] };
      const all = {
        'tsconfig.base.json': JSON.stringify({ compilerOptions: { paths } }),
        ...files,
      };
      for (const [file, text] of Object.entries(all)) {
        mkdirSync(dirname(join(root, file)), { recursive: true });
        writeFileSync(join(root, file), text);
      }
      return unusedExports(root);
    } finally {
      rmSync(root, { recursive: true });
    }
  }

  it('finds a constant, a function, a class and a type that nothing imports', () => {
    const text =
      'export const a = 1;\nexport function b() {}\nexport class C {}\nexport type D = 1;';
    expect(unusedIn({ 'libs/a/src/one.ts': text })).toEqual([
      'libs/a/src/one.ts: a',
      'libs/a/src/one.ts: b',
      'libs/a/src/one.ts: C',
      'libs/a/src/one.ts: D',
    ]);
  });

  it('lets pass what is imported by name, under another name, by require and as a type', () => {
    const used = unusedIn({
      'tools/one.mjs': 'export const a = 1;\nexport const b = 2;\nexport const c = 3;',
      'tools/two.js': 'exports.d = 4;\nmodule.exports = { e: 5 };',
      'tools/main.mjs': `import { a, b as other } from './one.mjs';\nconst { c } = await import('./one.mjs');`,
      'tools/more.cjs': `const { d, e } = require('./two.js');`,
      'libs/a/src/three.ts': 'export type F = 1;',
      'libs/a/src/four.ts': `const f: import('./three').F = 1;`,
    });
    expect(used).toEqual([]);
  });

  it('finds a re-export that no other library imports, together with its origin', () => {
    const library = {
      'libs/a/src/one.ts': 'export const a = 1;\nexport const b = 2;',
      'libs/a/src/index.ts': `export { a, b } from './one';`,
    };
    const user = { 'apps/x/src/main.ts': `import { a } from '@glovebox/a';` };
    expect(unusedIn({ ...library, ...user })).toEqual([
      'libs/a/src/index.ts: b',
      'libs/a/src/one.ts: b',
    ]);
  });

  it('finds code that only a spec uses, and lets pass an inner part that a spec imports', () => {
    const found = unusedIn({
      'libs/a/src/one.ts': 'export const dead = 1;\nexport const inner = 2;\nconsole.log(inner);',
      'libs/a/src/one.spec.ts': `import { dead, inner } from './one';`,
    });
    expect(found).toEqual(['libs/a/src/one.ts: dead']);
  });

  it('lets a helper of the specs be used by specs alone', () => {
    const found = unusedIn({
      'libs/a/src/spec-one.ts': 'export const a = 1;\nexport const b = 2;',
      'libs/a/src/one.spec.ts': `import { a } from './spec-one';`,
    });
    expect(found).toEqual(['libs/a/src/spec-one.ts: b']);
  });
});
