import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Trouble } from './progress.mjs';
import { repoRoot } from './repo.mjs';

const installed = join(repoRoot, 'apps/runner/packages');

/** @returns {string[]} the names by which code requires them */
const packageNames = () =>
  JSON.parse(readFileSync(join(repoRoot, 'libs/sandbox/src/packages.json'), 'utf8'));

/**
 * Makes one file of each package that customers' code may require, with everything that it needs
 * but Node's own modules.
 *
 * @param {string} outdir
 */
export async function bundlePackages(outdir) {
  const { build } = await import('esbuild');
  if (!existsSync(join(installed, 'node_modules'))) {
    throw new Trouble(
      'The packages of the runner are not installed. Run:\n' +
        '  npm ci --ignore-scripts --prefix apps/runner/packages',
    );
  }
  rmSync(outdir, { recursive: true, force: true });
  const built = await Promise.all(
    packageNames().map((name) =>
      build({
        stdin: { contents: `module.exports = require('${name}')`, resolveDir: installed },
        // The runner finds them by the same rule (libs/sandbox/src/offered-modules.ts).
        outfile: join(outdir, `${name.replaceAll('/', '__')}.js`),
        bundle: true,
        platform: 'node',
        target: 'node16',
        format: 'cjs',
        minifySyntax: true,
        minifyWhitespace: true,
        legalComments: 'none',
        metafile: true,
        absWorkingDir: installed,
        logLevel: 'warning',
      }),
    ),
  );
  const inputs = built.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  writeFileSync(join(outdir, 'LICENSES'), licensesOf(installed, inputs));
}

/**
 * The licences of all packages that the files belong to.
 *
 * @param {string} folder in which the files are
 * @param {string[]} files
 */
export function licensesOf(folder, files) {
  const packages = files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? '');
  const texts = [...new Set(packages)].sort().flatMap((name) =>
    readdirSync(join(folder, name))
      .filter((file) => name !== '' && /^licen[cs]e/i.test(file))
      .map((file) => `${name}\n\n${readFileSync(join(folder, name, file), 'utf8')}`),
  );
  return texts.join(`\n${'-'.repeat(80)}\n`);
}
