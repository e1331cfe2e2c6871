const preset = require('../jest.preset.js');
const { swcOptions } = require('./swc-options.js');

/** The tools are ES modules, which Jest loads as CommonJS. */
module.exports = {
  ...preset,
  displayName: 'tools',
  testMatch: ['**/*.spec.mjs'],
  moduleFileExtensions: ['mjs', 'ts', 'js', 'json'],
  transform: { '^.+\\.mjs$': ['@swc/jest', swcOptions({ module: 'commonjs' })] },
};
