import { createHash } from 'node:crypto';
import { compileFunction } from 'node:vm';
import { Problem } from '@glovebox/problems';
import { moduleOf, unavailable, type OfferedNames } from '@glovebox/sandbox';
import { literalRequires } from './literal-requires';

/** Refuses code that can never run. `path` is the member of the body that holds it. */
export function checkCode(code: string, path: string, offered: OfferedNames): void {
  refuse(path, syntaxErrors(code));
  const missing = literalRequires(code).filter((name) => moduleOf(name, offered) === undefined);
  refuse(path, [...new Set(missing)].map(unavailable));
}

/** Identifies a version of code, across processes too. */
export function codeHash(code: string): string {
  return createHash('sha256').update(code).digest('hex');
}

function refuse(path: string, errors: readonly string[]): void {
  if (errors.length > 0) throw new Problem('invalid_code', { errors: { [path]: errors } });
}

/** Compiles the code without running it. */
function syntaxErrors(code: string): string[] {
  try {
    compileFunction(code, ['exports', 'require', 'module', '__filename', '__dirname'], {
      filename: 'code.js',
    });
    return [];
  } catch (error) {
    const { message, stack = '' } = error as Error;
    const line = /^code\.js:(\d+)/.exec(stack)?.[1];
    return [line === undefined ? message : `line ${line}: ${message}`];
  }
}
