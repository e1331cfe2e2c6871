const { pathsToModuleNameMapper } = require('./tools/jest-paths.js');
const { swcOptions } = require('./tools/swc-options.js');

/** All projects use this preset: swc compiles, and the aliases of tsconfig.base.json resolve. */
module.exports = {
  testEnvironment: require.resolve('./tools/jest-environment.js'),
  moduleFileExtensions: ['ts', 'js', 'json'],
  testMatch: ['**/*.spec.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swcOptions({ module: 'commonjs' })] },
  moduleNameMapper: pathsToModuleNameMapper(),
  testTimeout: 120_000,
};
