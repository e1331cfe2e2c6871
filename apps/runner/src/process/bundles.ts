import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bundleFileOf } from '@glovebox/sandbox';

/** The file of each package that code may require, by its name. */
export type Bundles = Readonly<Record<string, string>>;

/** Looks into one folder after the other. A package without a file keeps the runner from starting. */
export function locateBundles(packages: readonly string[], folders: readonly string[]): Bundles {
  const located = packages.map((name): [string, string | undefined] => {
    const files = folders.map((folder) => join(folder, bundleFileOf(name)));
    return [name, files.find((file) => existsSync(file))];
  });
  const missing = located.flatMap(([name, file]) =>
    file === undefined ? [bundleFileOf(name)] : [],
  );
  if (missing.length === 0) return Object.fromEntries(located) as Bundles;
  throw new Error(`${missing.join(', ')} not found in ${folders.join(' or ')}`);
}
