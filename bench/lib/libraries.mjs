import { join } from 'node:path';
import { createRequire } from 'node:module';
import { build } from 'esbuild';
import { aliases } from '../../tools/build.mjs';
import { repoRoot } from '../../tools/lib/repo.mjs';

/**
 * Loads exports of this version's libraries, bundled as in the apps; `exported` is `{module:
 * names}`.
 *
 * @param {string} name
 * @param {Readonly<Record<string, string>>} exported
 * @returns {Promise<any>} untyped: the names are chosen at run time
 */
export async function loadLibraries(name, exported) {
  const outfile = join(repoRoot, 'dist', 'bench', `${name}.cjs`);
  const lines = Object.entries(exported).map(
    ([from, names]) => `export { ${names} } from '${from}';`,
  );
  await build({
    stdin: { contents: lines.join('\n'), resolveDir: repoRoot, loader: 'ts' },
    alias: aliases(),
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    outfile,
    logLevel: 'warning',
  });
  return createRequire(outfile)(outfile);
}
