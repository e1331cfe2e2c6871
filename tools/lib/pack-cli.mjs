import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { licensesOf } from './bundle-packages.mjs';
import { repoRoot } from './repo.mjs';

/** CommonJS packages in a bundle that is an ES module ask for modules of Node by this name. */
const requireOfModules =
  "import { createRequire as toRequire } from 'node:module';\nconst require = toRequire(import.meta.url);";

/** Files of `glovebox init`, by their names. */
const reactorTypes = () =>
  Object.fromEntries(
    ['index.d.ts', 'reactor-errors.d.ts'].map((name) => [
      `types/reactor-types/${name}`,
      readFileSync(join(repoRoot, 'libs', 'reactor-types', 'src', name), 'utf8'),
    ]),
  );

/**
 * Makes the package of the command line: one file for the program, one that tests of authors import,
 * and what npm needs to install them.
 *
 * @param {string} folder
 * @param {Record<string, string>} alias
 */
export async function packCli(folder, alias) {
  const { build, stop } = await import('esbuild');
  const { version, license, engines, devDependencies } = JSON.parse(
    readFileSync(join(repoRoot, 'package.json'), 'utf8'),
  );
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    const { metafile } = await build({
      absWorkingDir: repoRoot,
      entryPoints: {
        glovebox: 'apps/cli/src/main.ts',
        testing: 'apps/cli/src/testing.main.ts',
      },
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      mainFields: ['module', 'main'],
      // A program of each platform: npm installs the one that fits.
      external: ['esbuild'],
      banner: { js: requireOfModules },
      define: {
        builtVersion: JSON.stringify(version),
        builtReactorTypes: JSON.stringify(reactorTypes()),
      },
      minifySyntax: true,
      minifyWhitespace: true,
      legalComments: 'none',
      metafile: true,
      logLevel: 'warning',
      alias,
    });
    const inputs = Object.keys(metafile.inputs);
    writeFileSync(join(folder, 'LICENSES'), licensesOf(repoRoot, inputs));
  } finally {
    // esbuild keeps a process for the next build.
    await stop();
  }
  const manifest = {
    name: '@glovebox/cli',
    version,
    description: 'Write, try, test and deploy reactors and proxies of Glovebox.',
    license,
    type: 'module',
    bin: { glovebox: 'glovebox.mjs' },
    exports: { './testing': './testing.mjs', './package.json': './package.json' },
    files: ['*.mjs', 'LICENSES'],
    engines,
    dependencies: { esbuild: devDependencies.esbuild },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(join(repoRoot, 'LICENSE'), join(folder, 'LICENSE'));
  copyFileSync(join(repoRoot, 'docs', 'cli.md'), join(folder, 'README.md'));
}
