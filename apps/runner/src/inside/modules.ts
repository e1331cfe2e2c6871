import { builtinModules, createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import {
  adviceOnSyntax,
  availablePackages,
  codeName,
  moduleOf,
  unavailable,
} from '@glovebox/sandbox';
import { reactorErrors } from './errors';
import { loadPackage } from './packages';

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

/** The modules that code may require besides those of Node. */
export interface Modules {
  /** The names of the error classes. */
  readonly errors: readonly string[];
  /** The file of each package. */
  readonly bundles: Readonly<Record<string, string>>;
}

/**
 * `loading`: a module that is missing at load fails every run, one that is missing later does not.
 */
export function loadHandler(code: string, { errors, bundles }: Modules): Handler {
  let loading = true;
  const refuse = (message: string): never => {
    throw loading ? new UnusableCode(message) : missing(message);
  };
  const offered = { errors, packages: Object.keys(bundles) };
  // A help for the author, no protection: the operating system protects.
  const require = (name: unknown): unknown => {
    if (typeof name !== 'string') return refuse('require() takes the name of a module');
    const found = moduleOf(name, offered);
    switch (found?.kind) {
      case 'errors':
        return reactorErrors;
      case 'builtin':
        return nodeRequire(found.name);
      case 'package':
        return loadPackage(name, bundles[name] ?? '', builtin);
      case undefined:
        return refuse(`${unavailable(name)}. ${availablePackages(offered)}`);
    }
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

/** A bundle may use all of Node, as its author expects. */
function builtin(name: string): unknown {
  if (isBuiltin(name)) return nodeRequire(name);
  throw missing(unavailable(name));
}

const isBuiltin = (name: string): boolean =>
  name.startsWith('node:') || builtinModules.includes(name);

const missing = (message: string): Error =>
  Object.assign(new Error(message), { code: 'MODULE_NOT_FOUND' });

function compile(code: string): (...parameters: unknown[]) => void {
  const names = ['exports', 'require', 'module', '__filename', '__dirname'];
  try {
    return compileFunction(code, names, { filename: codeName }) as () => void;
  } catch (error) {
    const syntax = error as SyntaxError;
    const line = /^reactor\.js:(\d+)/.exec(syntax.stack ?? '')?.[1];
    const place = line === undefined ? '' : ` (line ${line})`;
    const { name, message } = syntax;
    const unusable = new UnusableCode(`${name}: ${message}${place}${adviceOnSyntax(message)}`);
    throw Object.assign(unusable, { stack: syntax.stack });
  }
}
