import { createHash } from 'node:crypto';
import { compileFunction } from 'node:vm';
import { Problem } from '@glovebox/problems';
import { literalRequires } from './literal-requires';

/** Contract 4: what code may require by name, besides the modules of error classes. */
const modules = new Set(
  [
    'assert assert/strict buffer crypto dns dns/promises events http https net os path path/posix',
    'perf_hooks querystring stream stream/promises string_decoder timers timers/promises tls url',
    'util util/types zlib',
    'axios node-fetch uuid crypto-js node-forge fast-xml-parser csv-parse jose',
  ].flatMap((line) => line.split(' ')),
);
const errorsModule = '@svc/reactor-errors';

/** Refuses code that can never run. `path` is the member of the body that holds it. */
export function checkCode(code: string, path: string, errorsAliases: readonly string[]): void {
  refuse(path, syntaxErrors(code));
  const known = new Set([errorsModule, ...errorsAliases]);
  const missing = new Set(
    literalRequires(code).filter(
      (name) => !known.has(name) && !modules.has(name.replace(/^node:/, '')),
    ),
  );
  refuse(
    path,
    [...missing].map((name) => `requires "${name.slice(0, 100)}", which is not available`),
  );
}

/** Tells two versions of a code apart, also across processes. */
export function codeHash(code: string): string {
  return createHash('sha256').update(code).digest('hex');
}

function refuse(path: string, errors: readonly string[]): void {
  if (errors.length > 0) throw new Problem('invalid_code', { errors: { [path]: errors } });
}

/** Compiled, never run. */
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
