import { closeSync, openSync, readSync } from 'node:fs';
import { compileFunction } from 'node:vm';

interface Module {
  exports: unknown;
}

const loaded = new Map<string, Module>();
const readBytes = 256 * 1024;

/**
 * Loads a package from its one file, once per process. `builtin` gives it the modules of Node:
 * everything else is in the file.
 */
export function loadPackage(
  name: string,
  file: string,
  builtin: (name: string) => unknown,
): unknown {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const module: Module = { exports: {} };
  const run = compileFunction(textOf(file), ['module', 'exports', 'require'], {
    filename: `${name}.js`,
  }) as (...parameters: unknown[]) => void;
  loaded.set(name, module);
  try {
    run(module, module.exports, builtin);
  } catch (error) {
    loaded.delete(name);
    throw error;
  }
  return module.exports;
}

/** Only opens and reads: a sandbox may not ask for the size of a file. */
function textOf(file: string): string {
  const chunks: Buffer[] = [];
  const descriptor = openSync(file, 'r');
  try {
    for (let length = 1; length > 0;) {
      const chunk = Buffer.allocUnsafe(readBytes);
      length = readSync(descriptor, chunk, 0, readBytes, null);
      chunks.push(chunk.subarray(0, length));
    }
  } finally {
    closeSync(descriptor);
  }
  return Buffer.concat(chunks).toString('utf8');
}
