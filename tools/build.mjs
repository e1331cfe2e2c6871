// Bundles apps: node tools/build.mjs apps/NAME [apps/NAME …] → dist/apps/NAME/*.js
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePackages } from './lib/bundle-packages.mjs';
import { packCli } from './lib/pack-cli.mjs';
import { repoRoot } from './lib/repo.mjs';
import { script, Trouble } from './lib/progress.mjs';
import { swcOptions } from './swc-options.js';

export const consoleRoot = 'apps/console';
export const cliRoot = 'apps/cli';

/**
 * Bundles every app of the list in one process; `roots` are folders like apps/gateway.
 *
 * @param {readonly string[]} roots
 */
async function buildApps(roots) {
  if (roots.includes(consoleRoot)) await buildConsole();
  if (roots.includes(cliRoot)) await buildCli();
  const bundled = roots.filter((root) => root !== consoleRoot && root !== cliRoot);
  if (bundled.length === 0) return;
  // Imported here, so that this module can be loaded before anything is installed.
  const { build, stop } = await import('esbuild');
  const { transform } = await import('@swc/core');
  try {
    await Promise.all(bundled.map((root) => buildApp(root, build, transform)));
  } finally {
    // esbuild keeps a process for the next build.
    await stop();
  }
}

/** The page in the browser: Vite builds it, and nothing of the libraries is in it. */
async function buildConsole() {
  const hash = sourceHash(consoleRoot);
  const { build } = await import('vite');
  const configFile = join(repoRoot, consoleRoot, 'vite.config.mjs');
  await build({ configFile, logLevel: 'warn' }).catch((error) => {
    throw new Trouble(`The build of ${consoleRoot} failed: ${error.message}`);
  });
  writeBuild(consoleRoot);
  writeFileSync(hashFile(consoleRoot), hash);
}

/** A package that runs on machines of authors: whatever it needs is in its files. */
async function buildCli() {
  const hash = sourceHash(cliRoot);
  await packCli(join(repoRoot, 'dist', cliRoot), aliases()).catch((error) => {
    throw new Trouble(`The build of ${cliRoot} failed: ${error.message}`);
  });
  writeBuild(cliRoot);
  writeFileSync(hashFile(cliRoot), hash);
}

/**
 * @param {string} root
 * @param {typeof import('esbuild').build} build
 * @param {typeof import('@swc/core').transform} transform
 */
async function buildApp(root, build, transform) {
  const hash = sourceHash(root);
  await build({
    ...bundleOptions(root, transform),
    sourcemap: true,
    // Stacks need the places alone. The sources would be most of a map.
    sourcesContent: false,
    packages: 'external',
    logLevel: 'warning',
  }).catch(() => {
    throw new Trouble(`The build of ${root} failed: see above.`);
  });
  if (root === 'apps/runner') await bundlePackages(join(repoRoot, 'dist', root, 'packages'));
  mkdirSync(join(repoRoot, 'dist', root), { recursive: true });
  writeBuild(root);
  writeFileSync(hashFile(root), hash);
}

/**
 * Says beside the bundle what it was built from. A build without Git, as that of an image, is told
 * the commit by GLOVEBOX_COMMIT.
 *
 * @param {string} root
 */
function writeBuild(root) {
  const { version } = JSON.parse(readFileSync(join(repoRoot, 'package.json'), 'utf8'));
  const asked = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: repoRoot, encoding: 'utf8' });
  const commit = process.env.GLOVEBOX_COMMIT || asked.stdout?.trim() || 'unknown';
  writeFileSync(join(repoRoot, 'dist', root, 'build.json'), JSON.stringify({ version, commit }));
}

/**
 * @param {string} root
 * @param {typeof import('@swc/core').transform} transform
 * @returns {import('esbuild').BuildOptions}
 */
export const bundleOptions = (root, transform) => ({
  absWorkingDir: repoRoot,
  entryPoints: entryPointsOf(root),
  outdir: join('dist', root),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  // Nest and OpenAPI need names; elsewhere the names would cost one call more per closure.
  keepNames: root === 'apps/management-api',
  alias: aliases(),
  plugins: [decorators(transform)],
});

/**
 * Builds the apps that changed since their last build and returns their number.
 *
 * @param {readonly string[]} roots
 */
export async function buildStaleApps(roots) {
  const stale = roots.filter((root) => !isFresh(root));
  if (stale.length > 0) await buildApps(stale);
  // A commit that changes no source of a bundle is another commit all the same.
  for (const root of roots) writeBuild(root);
  return stale.length;
}

/** @param {string} root */
function isFresh(root) {
  return existsSync(hashFile(root)) && readFileSync(hashFile(root), 'utf8') === sourceHash(root);
}

/** @param {string} root */
const hashFile = (root) => join(repoRoot, 'dist', root, '.build-hash');

/**
 * Hashes the content of all sources of the bundle: a checkout or a touch changes nothing.
 *
 * @param {string} root
 */
function sourceHash(root) {
  const hash = createHash('sha256');
  const folders = root === consoleRoot ? [root] : [root, 'libs'];
  const files = folders
    .flatMap((folder) =>
      readdirSync(join(repoRoot, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(folder, file),
      ),
    )
    .filter((file) => sources(root).test(file))
    .filter((file) => !/node_modules|\.(spec|faults|soak)\.ts$/.test(file))
    .sort();
  const builtBy = [
    'package-lock.json',
    'apps/runner/packages/package-lock.json',
    'tsconfig.base.json',
    'tools/build.mjs',
    'tools/lib/bundle-packages.mjs',
    'tools/lib/pack-cli.mjs',
    'tools/swc-options.js',
  ];
  for (const file of [...files, ...builtBy]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(repoRoot, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

/** @param {string} root */
const sources = (root) =>
  root === consoleRoot
    ? /[/\\](src[/\\].*\.(tsx?|css|svg)|index\.html|vite\.config\.mjs)$/
    : /[/\\]src[/\\].*\.(ts|json)$/;

/** @returns {Record<string, string>} */
export function aliases() {
  const config = JSON.parse(readFileSync(join(repoRoot, 'tsconfig.base.json'), 'utf8'));
  /** @type {[string, string[]][]} */
  const paths = Object.entries(config.compilerOptions.paths);
  return Object.fromEntries(paths.map(([name, [target = '']]) => [name, join(repoRoot, target)]));
}

/**
 * Entry points are main.ts and *.main.ts directly under src/.
 *
 * @param {string} root
 */
function entryPointsOf(root) {
  return readdirSync(join(repoRoot, root, 'src'))
    .filter((file) => file === 'main.ts' || file.endsWith('.main.ts'))
    .map((file) => join(root, 'src', file));
}

/**
 * esbuild drops decorator metadata, which TypeORM, Nest and class-validator need.
 *
 * @param {typeof import('@swc/core').transform} transform
 * @returns {import('esbuild').Plugin}
 */
function decorators(transform) {
  return {
    name: 'decorators',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const source = await readFile(path, 'utf8');
        if (!/^\s*@\w+\(/m.test(source)) return undefined;
        const { code } = await transform(source, {
          filename: path,
          ...swcOptions({ module: 'es6' }),
        });
        return { contents: code, loader: 'js' };
      });
    },
  };
}

const help = `
usage: node tools/build.mjs apps/NAME [apps/NAME …]

Bundles every entry point of the apps into dist/apps/NAME, and the console with Vite.`;

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await script(help, async (args) => {
    if (args.length === 0) throw new Error('which app? e.g. node tools/build.mjs apps/gateway');
    await buildApps(args);
    console.log(`built ${args.map((root) => basename(root)).join(', ')}`);
  });
}
