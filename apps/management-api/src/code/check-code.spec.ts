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
        }),
      );
    },
  );
});
