import { fastest } from '@glovebox/testing';
import { literalRequires } from './literal-requires';

describe('literalRequires', () => {
  it.each([
    [`const a = require('fs'), b = require("node:net");`, ['fs', 'node:net']],
    ['const c = require(`os`)', ['os']],
    [`async () => (await require ( 'x' )).y`, ['x']],
    [`if (typeof require === 'function') require('x')`, ['x']],
    ['`${require("inside")} ${`${require("deeper")}`}`', ['inside', 'deeper']],
    [`const r = /['"]/; require('x')`, ['x']],
    [`const half = 4 / 2; const s = 'a/'; require('x')`, ['x']],
    [`call(a / require('x') / 2)`, ['x']],
  ])('finds the required modules in %s', (code, modules) => {
    expect(literalRequires(code)).toEqual(modules);
  });

  it.each([
    `// require('fs')`,
    `/* require('fs') */ 1`,
    `"require('fs')"`,
    '`require("fs")`',
    `/require('fs')/.test(x)`,
    `module.require('fs'); this?.require('fs')`,
    `require(name)`,
    `require('a' + b)`,
    `const x = { require: 1 }`,
  ])('finds no required module in %s', (code) => {
    expect(literalRequires(code)).toEqual([]);
  });

  it.each([
    `(function (require, module) { require('./a') })({})`,
    `function require(name) {} require('./a')`,
    `const require = load; require('./a')`,
    `(require => require('./a'))(load)`,
    `bundle[1](module, require); require('./a')`,
  ])('finds nothing in code that binds the name itself: %s', (code) => {
    expect(literalRequires(code)).toEqual([]);
  });

  it('takes linear time for code made of slashes, quotes and braces', async () => {
    const readMs = (): number => {
      const begun = performance.now();
      for (const piece of ['/', '`${', "'", '/*', '[', '\\']) literalRequires(piece.repeat(25_000));
      return performance.now() - begun;
    };
    expect(await fastest(2_000, readMs)).toBeLessThan(2_000);
  });
});
