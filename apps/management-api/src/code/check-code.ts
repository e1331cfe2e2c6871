import { compileFunction } from 'node:vm';
import { Problem } from '@glovebox/problems';
import {
  adviceOnSyntax,
  availablePackages,
  codeName,
  moduleOf,
  placeOfSyntaxError,
  unavailable,
  type OfferedNames,
} from '@glovebox/sandbox';
import { literalRequires } from './literal-requires';

/** Refuses code that can never run. `path` is the member of the body that holds it. */
export function checkCode(code: string, path: string, offered: OfferedNames): void {
  requireThatItCompiles(code, path);
  const missing = literalRequires(code).filter((name) => moduleOf(name, offered) === undefined);
  if (missing.length > 0) {
    throw new Problem('invalid_code', {
      detail: availablePackages(offered),
      errors: { [path]: [...new Set(missing)].map(unavailable) },
    });
  }
}

/** Compiles the code without running it. */
function requireThatItCompiles(code: string, path: string): void {
  try {
    compileFunction(code, ['exports', 'require', 'module', '__filename', '__dirname'], {
      filename: codeName,
    });
  } catch (error) {
    const { message, stack = '' } = error as Error;
    const line = /^reactor\.js:(\d+)/.exec(stack)?.[1];
    const place = line === undefined ? '' : `line ${line}: `;
    const said = `${place}${message}${adviceOnSyntax(message)}`;
    const position = placeOfSyntaxError(stack);
    throw new Problem('invalid_code', { errors: { [path]: [said] }, position });
  }
}
