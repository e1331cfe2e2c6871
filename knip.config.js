/**
 * The run with --production leaves out specs and measurements: it finds code that they alone use.
 * There, the index of a library may offer a part for specs of others to use.
 */
const isProduction = process.argv.includes('--production');
const specs = '*.{spec,faults,soak,skew,nodes,clients,screenshots}.{ts,mjs,js}';
const jestSettings = '**/jest.{config,preset,setup}.js';

module.exports = {
  include: ['files', 'exports', 'types'],
  entry: [
    'apps/*/src/*main.ts!',
    'apps/console/src/main.tsx!',
    'apps/console/vite.config.mjs!',
    'libs/client/src/{index,webhooks}.ts!',
    '{tools,docker}/*.mjs!',
    // Knip takes tools/test.mjs for a test.
    'tools/lib/test-run/*.mjs!',
    // Runs in containers.
    'tools/lib/images/look-around.mjs!',
    '{acceptance,apps,bench}/**/*.{mjs,cjs}',
    `{acceptance,apps,bench,k8s,libs,tools}/**/${specs}`,
    jestSettings,
  ],
  project: [
    '{apps,docker,libs,tools}/**/*.{ts,tsx,mjs,js}!',
    '{acceptance,bench,k8s}/**/*.{ts,mjs,cjs,js}',
    `!**/{spec-*,*.cases.ts,jest*.js,${specs}}!`,
    '!**/{property,__fixtures__}/**!',
    '!libs/testing/**!',
  ],
  includeEntryExports: true,
  ignoreExportsUsedInFile: true,
  // Loaded by path.
  ignoreIssues: {
    [jestSettings]: ['exports'],
    'apps/console/vite.config.mjs': ['exports'],
    'bench/*.mjs': ['exports'],
    // Tests of authors import them.
    'apps/cli/src/testing.main.ts': ['exports'],
    // The compiler alone reads it.
    'acceptance/packages/code.cjs': ['exports'],
    // What users install: nothing here imports all of it.
    'libs/client/src/*.ts': ['exports', 'types'],
    'libs/reactor-types/src/*.d.ts': ['files', 'types'],
    'tools/lib/test-run/{longest-first,test-run}.mjs': ['exports'],
    // For the next migration that builds an index of a large table.
    'apps/management-api/src/migrations/build-index.ts': ['files', 'exports'],
    ...(isProduction ? { 'libs/*/src/index.ts': ['exports', 'types'] } : {}),
  },
};
