const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { build } = require('esbuild');

const root = join(__dirname, '..', '..');

/** The specs run real sandboxes: what runs inside them is built here, the rest must be there. */
module.exports = async () => {
  for (const runtime of (process.env.TEST_RUNTIMES ?? 'node16,node20').split(',')) {
    const folder = join(__dirname, 'runtimes', runtime, 'node_modules', process.arch);
    if (!existsSync(join(folder, 'bin/node'))) {
      throw new Error(
        `The runtime ${runtime} is not installed. Run:\n  node tools/fetch-runtime.mjs apps/runner/runtimes/${runtime}`,
      );
    }
  }
  const { bundlePackages } = await import('../../tools/lib/bundle-packages.mjs');
  await bundlePackages(join(root, 'dist/apps/runner-specs/packages'));
  await build({
    entryPoints: [
      ...['bootstrap.main', 'probe.main', 'inspector.main'],
      'hostile/spec-stand-in-runner',
    ].map((name) => join(__dirname, `src/${name}.ts`)),
    entryNames: '[name]',
    outdir: join(root, 'dist/apps/runner-specs'),
    bundle: true,
    platform: 'node',
    target: 'node16',
    format: 'cjs',
    alias: { '@glovebox/sandbox': join(root, 'libs/sandbox/src/index.ts') },
    logLevel: 'warning',
  });
};
