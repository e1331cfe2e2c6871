const { pathsToModuleNameMapper } = require('./tools/jest-paths.js');
const { swcOptions } = require('./tools/swc-options.js');

/** Every project extends this preset: swc compiles, the aliases of tsconfig.base.json resolve. */
module.exports = {
  testEnvironment: 'node',
  moduleFileExtensions: ['ts', 'js', 'json'],
  testMatch: ['**/*.spec.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swcOptions({ module: 'commonjs' })] },
  moduleNameMapper: pathsToModuleNameMapper(),
  testTimeout: 30_000,
};
