// The packages for npm: what of libs/ users install.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from './repo.mjs';
import { Trouble } from './progress.mjs';

const root = JSON.parse(readFileSync(join(repoRoot, 'package.json'), 'utf8'));

/** @param {readonly string[]} names */
const versionsOf = (names) =>
  Object.fromEntries(
    names.map((name) => [name, root.dependencies[name] ?? root.devDependencies[name]]),
  );

/**
 * @typedef {{
 *   lib: string,
 *   description: string,
 *   entries: readonly string[],
 *   dependencies?: Record<string, string>,
 * }} Package
 */

/** @type {readonly Package[]} */
export const packages = [
  {
    lib: 'client',
    description: 'Calls Glovebox, with the types of its API.',
    entries: ['index', 'webhooks'],
    dependencies: versionsOf(['openapi-fetch', 'standardwebhooks']),
  },
  {
    lib: 'reactor-types',
    description: 'Types of the code of reactors and transforms of Glovebox.',
    entries: ['index'],
  },
];

/**
 * Writes a package into the empty folder, as npm publishes it.
 *
 * @param {Package} one
 * @param {string} folder
 */
export async function writePackage(one, folder) {
  const { lib, entries } = one;
  const source = join(repoRoot, 'libs', lib);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (lib === 'reactor-types') cpSync(join(source, 'src'), folder, { recursive: true });
  else {
    await bundle(source, entries, folder);
    declare(source, entries, folder);
  }
  copyFileSync(join(source, 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(repoRoot, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifestOf(one), null, 2));
}

/** @param {Package} one */
function manifestOf({ lib, description, entries, dependencies }) {
  const isTypesAlone = lib === 'reactor-types';
  return {
    name: `@glovebox/${lib}`,
    version: root.version,
    description,
    license: root.license,
    type: 'module',
    sideEffects: false,
    engines: root.engines,
    ...(isTypesAlone ? { types: './index.d.ts' } : {}),
    exports: isTypesAlone
      ? { '.': { types: './index.d.ts' } }
      : Object.fromEntries(
          entries.map((entry) => [
            entry === 'index' ? '.' : `./${entry}`,
            {
              import: { types: `./${entry}.d.ts`, default: `./${entry}.js` },
              require: { types: `./${entry}.d.cts`, default: `./${entry}.cjs` },
            },
          ]),
        ),
    ...(dependencies ? { dependencies } : {}),
  };
}

/**
 * ES modules and CommonJS of the same source. ES modules share chunks, so that a class is the same in
 * every entry.
 *
 * @param {string} source
 * @param {readonly string[]} entries
 * @param {string} folder
 */
async function bundle(source, entries, folder) {
  const { build } = await import('esbuild');
  const common = {
    entryPoints: entries.map((entry) => join(source, 'src', `${entry}.ts`)),
    outdir: folder,
    platform: /** @type {const} */ ('neutral'),
    target: 'es2022',
    logLevel: /** @type {const} */ ('warning'),
  };
  await build({ ...common, bundle: true, packages: 'external', format: 'esm', splitting: true });
  // Modules one by one, as esbuild splits none of CommonJS.
  const modules = readdirSync(join(source, 'src')).filter((file) => /^[^.]+\.ts$/.test(file));
  await build({
    ...common,
    entryPoints: modules.map((file) => join(source, 'src', file)),
    bundle: false,
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
  });
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.cjs'))) {
    rewrite(join(folder, file), /require\("(\.\/[\w-]+)"\)/g, 'require("$1.cjs")');
  }
}

/**
 * @param {string} source
 * @param {readonly string[]} entries
 * @param {string} folder
 */
function declare(source, entries, folder) {
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      join(repoRoot, 'node_modules', 'typescript', 'bin', 'tsc'),
      ...['--declaration', '--emitDeclarationOnly', '--strict', '--skipLibCheck', '--noCheck'],
      ...['--target', 'es2022', '--module', 'preserve', '--moduleResolution', 'bundler'],
      ...[
        '--types',
        'node',
        '--ignoreConfig',
        '--rootDir',
        join(source, 'src'),
        '--outDir',
        folder,
      ],
      ...entries.map((entry) => join(source, 'src', `${entry}.ts`)),
    ],
    { cwd: repoRoot, encoding: 'utf8' },
  );
  if (status !== 0) throw new Trouble(`The types of ${source} could not be made:\n${stdout}`);
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.d.ts'))) {
    const common = join(folder, file.replace(/\.d\.ts$/, '.d.cts'));
    copyFileSync(join(folder, file), common);
    rewrite(common, /from '(\.\/[\w-]+)'/g, "from '$1.cjs'");
    rewrite(join(folder, file), /from '(\.\/[\w-]+)'/g, "from '$1.js'");
  }
}

/**
 * @param {string} file
 * @param {RegExp} pattern
 * @param {string} replacement
 */
function rewrite(file, pattern, replacement) {
  writeFileSync(file, readFileSync(file, 'utf8').replace(pattern, replacement));
}

/**
 * Packs all packages into the folder, and returns their files.
 *
 * @param {string} into
 */
export async function packPackages(into) {
  mkdirSync(into, { recursive: true });
  const files = [];
  for (const one of packages) {
    const folder = join(repoRoot, 'dist', 'packages', one.lib);
    await writePackage(one, folder);
    const { status, stdout, stderr } = spawnSync(
      'npm',
      ['pack', '--json', '--pack-destination', into],
      {
        cwd: folder,
        encoding: 'utf8',
      },
    );
    if (status !== 0) throw new Trouble(`npm pack of ${one.lib} failed:\n${stderr}`);
    files.push(join(into, JSON.parse(stdout)[0].filename));
  }
  return files;
}
