import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { offeredNames } from '@glovebox/sandbox';
import { checkCode } from './check-code';

const offered = offeredNames({
  REACTOR_ERRORS_ALIASES: ['@acme/errors'],
  REACTOR_PACKAGES: ['@acme/sums', 'csv-parse/stream'],
});

describe('checkCode', () => {
  it.each(['net', 'node:net', '@svc/reactor-errors', '@acme/errors', '@acme/sums', 'axios'])(
    'accepts code that requires %s',
    (name) => {
      expect(() => checkCode(`require('${name}')`, 'code', offered)).not.toThrow();
    },
  );

  it.each(['fs', 'left-pad', 'node:axios', '@acme/other', 'axios/lib/axios', 'jose/x'])(
    'refuses code that requires %s, once, with the text of the sandbox',
    (name) => {
      const code = `require('${name}'); () => require('${name}')`;
      expect(() => checkCode(code, 'code', offered)).toThrow(
        expect.objectContaining({
          code: 'invalid_code',
          errors: { code: [`Module '${name}' is not available`] },
          detail: `Packages that are: ${offered.packages.join(', ')}. Bundle others into the code: docs/guide/code.md#form.`,
        }),
      );
    },
  );

  it('points at a section of the guide that is there', () => {
    const guide = readFileSync(join(__dirname, '../../../../docs/guide/code.md'), 'utf8');
    expect(guide).toMatch(/^## Form$/m);
  });

  it.each([
    [`import a from 'b';`, 'line 1: Cannot use import statement outside a module'],
    ['const a = 1;\nexport default a;', `line 2: Unexpected token 'export'`],
    ['import.meta.url', `line 1: Cannot use 'import.meta' outside a module`],
  ])('says what to use in place of a module: %s', (code, said) => {
    expect(() => checkCode(code, 'code', offered)).toThrow(
      expect.objectContaining({
        code: 'invalid_code',
        errors: { code: [`${said}. Use module.exports / require.`] },
      }),
    );
  });
});
