import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import { builtinOf } from '@glovebox/sandbox';
import { reactorErrors } from './errors';

const nodeRequire = createRequire('/');

/** Loads slow modules while the process waits. Loading takes longer than a call of most code. */
export function warmUp(): void {
  for (const name of ['assert', 'crypto', 'http', 'https', 'url', 'util', 'zlib'])
    nodeRequire(name);
}

export type Handler = (request: unknown) => unknown;

/** The code cannot be used with any arguments. This is no failure of one run. */
export class UnusableCode extends Error {
  override name = 'UnusableCode';
}

/**
 * `loading`: a module that is missing at load fails every run, one that is missing later does not.
 */
export function loadHandler(code: string, errorsModules: readonly string[]): Handler {
  let loading = true;
  const refuse = (message: string): never => {
    throw loading
      ? new UnusableCode(message)
      : Object.assign(new Error(message), { code: 'MODULE_NOT_FOUND' });
  };
  const require = (name: unknown): unknown => {
    if (typeof name !== 'string') return refuse('require() takes the name of a module');
    if (errorsModules.includes(name)) return reactorErrors;
    // A help for the author, no protection: the operating system protects.
    const builtin = builtinOf(name);
    if (builtin !== undefined) return nodeRequire(builtin);
    if (nodeRequire('module').builtinModules.includes(name) || name.startsWith('node:')) {
      return refuse(`Module '${name}' is not available`);
    }
    return refuse(`Package '${name}' is not available`);
  };

  const module = { exports: {} as unknown };
  compile(code)(module.exports, require, module, '/reactor.js', '/');
  loading = false;
  const handler = module.exports;
  if (typeof handler !== 'function') {
    throw new UnusableCode('The code does not export a function (module.exports = …)');
  }
  return handler as Handler;
}

function compile(code: string): (...parameters: unknown[]) => void {
  const names = ['exports', 'require', 'module', '__filename', '__dirname'];
  try {
    return compileFunction(code, names, { filename: 'reactor.js' }) as () => void;
  } catch (error) {
    const syntax = error as SyntaxError;
    const line = /^reactor\.js:(\d+)/.exec(syntax.stack ?? '')?.[1];
    const message = `${syntax.name}: ${syntax.message}`;
    const unusable = new UnusableCode(line === undefined ? message : `${message} (line ${line})`);
    throw Object.assign(unusable, { stack: syntax.stack });
  }
}
