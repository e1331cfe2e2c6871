import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleOptions } from '../build.mjs';
import { repoRoot } from './repo.mjs';

/** @type {(path: string) => Record<string, unknown>} */
const readJson = (path) => JSON.parse(readFileSync(join(repoRoot, path), 'utf8'));

/**
 * The installed packages whose files the bundle of an app imports, directly or through others.
 * A package that is imported if it is there (`supports-color`) counts only when it is one of the
 * product and not of its development.
 *
 * @param {string} root such as apps/gateway
 * @returns {Promise<string[]>} folders under node_modules, sorted: pg, typeorm/node_modules/glob
 */
export async function importedPackages(root) {
  const { build } = await import('esbuild');
  const { transform } = await import('@swc/core');
  const { plugins = [], ...options } = bundleOptions(root, transform);
  const { metafile } = await build({
    ...options,
    plugins: [...plugins, absentIsExternal],
    packages: 'bundle',
    metafile: true,
    write: false,
    logLevel: 'error',
  });
  const lock = /** @type {Record<string, { dev?: boolean }>} */ (
    readJson('package-lock.json').packages
  );
  const folders = Object.keys(metafile.inputs).flatMap(
    (file) => /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(file) ?? [],
  );
  return [...new Set(folders)]
    .filter((folder) => lock[folder] && !lock[folder].dev)
    .map((folder) => folder.slice('node_modules/'.length))
    .sort();
}

/**
 * Packages import others only if they are installed: drivers of databases, parts of Nest.
 *
 * @type {import('esbuild').Plugin}
 */
const absentIsExternal = {
  name: 'absent is external',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === absentIsExternal || !from.importer.includes('/node_modules/')) return;
      const found = await build.resolve(path, { ...from, pluginData: absentIsExternal });
      return found.errors.length > 0 ? { path, external: true } : found;
    });
  },
};

/**
 * What no import shows: programs for one kind of machine, which a package looks up by its name.
 *
 * @param {readonly string[]} packages
 */
export function withNativeParts(packages) {
  const parts = packages.flatMap((name) => {
    const { optionalDependencies } = readJson(`node_modules/${name}/package.json`);
    return Object.keys(optionalDependencies ?? {});
  });
  const installed = parts.filter((name) => existsSync(join(repoRoot, 'node_modules', name)));
  return [...new Set([...packages, ...installed])];
}
