import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

/** The libraries that each library may use (docs/architecture.md). Nobody may import an app. */
const libraries = {
  problems: [],
  wire: ['problems'],
  'store-urls': [],
  'service-host': ['problems', 'wire', 'store-urls'],
  shares: ['problems', 'service-host'],
  rates: ['problems'],
  seal: ['problems'],
  database: ['problems', 'shares', 'store-urls'],
  access: ['problems'],
  sandbox: ['problems'],
  definitions: ['problems', 'seal', 'database', 'access', 'sandbox', 'store-urls'],
  stores: ['service-host', 'seal', 'database', 'definitions', 'store-urls'],
  expressions: ['problems'],
  vault: ['problems', 'wire', 'shares', 'seal', 'database', 'access', 'expressions'],
  egress: ['problems', 'shares'],
  http1: [],
  idempotency: ['problems', 'seal', 'database', 'access', 'vault'],
  runs: ['problems', 'service-host', 'shares', 'seal', 'database', 'vault', 'sandbox'],
  calls: ['problems', 'service-host', 'shares', 'database'],
  captures: ['seal', 'database'],
  certificates: [],
  reactors: [
    'problems',
    'wire',
    'service-host',
    'shares',
    'access',
    'definitions',
    'expressions',
    'vault',
    'sandbox',
    'seal',
    'database',
    'runs',
  ],
  'dry-runs': ['problems', 'access', 'definitions', 'seal'],
  // For others to install: it knows the API alone.
  client: [],
  testing: [],
};
const everyLibrary = Object.keys(libraries);

const apps = {
  'management-api': everyLibrary,
  gateway: everyLibrary,
  worker: everyLibrary,
  // The runner holds nothing: no database, no keys, no vault.
  runner: ['access', 'egress', 'sandbox', 'service-host', 'wire', 'shares', 'problems'],
  // A page in the browser: it knows the API, and nothing that is behind it.
  console: [],
  // On machines of authors: it knows the API, and nothing that is behind it.
  cli: ['client'],
};

/** Packages that only some projects may import. */
const reserved = [
  { packages: ['@nestjs/*', 'typeorm'], for: ['app:management-api'] },
  { packages: ['pg'], for: ['lib:database', 'lib:testing', 'app:management-api'] },
  { packages: ['http-proxy'], for: ['app:gateway'] },
  {
    packages: ['react', 'react-dom', '@tanstack/*', '@codemirror/*', 'uplot'],
    for: ['app:console'],
  },
  { packages: ['commander', 'chokidar', 'diff', 'yaml'], for: ['app:cli'] },
  // In app:management-api and lib:sandbox for specs alone.
  { packages: ['esbuild'], for: ['app:cli', 'app:management-api', 'lib:sandbox'] },
  // In lib:testing a foreign debugger, for specs alone.
  { packages: ['ws'], for: ['app:cli', 'lib:testing'] },
  // A foreign client, for specs alone.
  { packages: ['undici'], for: ['app:gateway', 'lib:http1'] },
];

function constraint(sourceTag, libs) {
  const banned = reserved.filter((rule) => !rule.for.includes(sourceTag));
  return {
    sourceTag,
    // Specs may use lib:testing; no-restricted-imports below keeps it out of everything else.
    onlyDependOnLibsWithTags: [...new Set([...libs, 'testing'])].map((name) => `lib:${name}`),
    bannedExternalImports: banned.flatMap(({ packages }) => packages),
  };
}

const depConstraints = [
  ...Object.entries(libraries).map(([name, uses]) => constraint(`lib:${name}`, uses)),
  ...Object.entries(apps).map(([name, uses]) => constraint(`app:${name}`, uses)),
  // Black box: over HTTP, with nothing of the product inside. lib:testing has nothing of it either.
  { sourceTag: 'acceptance', onlyDependOnLibsWithTags: ['lib:testing'] },
];

const testFiles = [
  '**/*.spec.ts',
  '**/spec-*.ts',
  '**/property/*.ts',
  '**/*.faults.ts',
  '**/*.skew.ts',
  '**/*.soak.ts',
  '**/*.nodes.ts',
  '**/*.clients.ts',
  '**/*.screenshots.ts',
];

/** The tables of runs and webhooks (docs/adr/0062-one-library-owns-runs-and-webhooks.md). */
const tablesOfRuns =
  '/\\b(reactor_runs|ended_runs|webhook_deliveries|ended_deliveries|failing_webhook_paths)\\b/';
const onlyInRuns = 'Only libs/runs names these tables.';

const environment = {
  object: 'process',
  property: 'env',
  message: 'Only config.ts reads the environment.',
};

export default tseslint.config(
  {
    ignores: [
      '**/node_modules/',
      'dist/',
      '.nx/',
      '.glovebox/',
      'coverage/',
      'apps/runner/runtimes/',
      'apps/runner/packages/',
      'libs/client/src/api.ts',
      'libs/reactor-types/',
    ],
  },
  {
    files: ['apps/**/*.{ts,tsx}', 'libs/**/*.ts', 'acceptance/**/*.ts', 'k8s/**/*.ts'],
    extends: [tseslint.configs.base],
    plugins: { '@nx': nx },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        { allow: [], enforceBuildableLibDependency: false, depConstraints },
      ],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-imports': ['error', { paths: ['@glovebox/testing'] }],
      'no-restricted-properties': ['error', environment],
    },
  },
  {
    files: [...testFiles, 'acceptance/**/*.ts'],
    rules: { 'no-restricted-imports': 'off' },
  },
  {
    // The checks read the settings of each app by its own config.ts.
    files: ['k8s/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': 'off' },
  },
  {
    files: ['**/config.ts', 'libs/testing/**/*.ts', 'acceptance/**/*.ts', 'k8s/**/*.ts'],
    ignores: testFiles,
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['apps/**/*.ts', 'libs/**/*.ts'],
    ignores: [
      ...testFiles,
      'libs/runs/**',
      'apps/management-api/src/migrations/**',
      'apps/management-api/src/database/from-60233aa.ts',
    ],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: `Literal[value=${tablesOfRuns}]`, message: onlyInRuns },
        { selector: `TemplateElement[value.raw=${tablesOfRuns}]`, message: onlyInRuns },
      ],
    },
  },
  {
    // An entry point hands the whole environment to config.ts, and reads no variable itself.
    files: ['apps/*/src/main.ts', 'apps/*/src/*.main.ts'],
    rules: {
      'no-restricted-properties': 'off',
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'MemberExpression > MemberExpression.object[object.name="process"][property.name="env"]',
          message: environment.message,
        },
      ],
    },
  },
  {
    // A validator or TypeORM fills the fields.
    files: ['**/*.dto.ts', '**/*.entity.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    // Scripts that run before anything is installed: plain JavaScript, Node's own modules.
    files: ['**/*.{js,mjs,cjs}'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      'no-undef-init': 'error',
      'no-unreachable': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
);
