const preset = require('../jest.preset.js');
const { swcOptions } = require('../tools/swc-options.js');

/** The checks use a part of the tools, which are ES modules. */
module.exports = {
  ...preset,
  displayName: 'k8s',
  moduleFileExtensions: [...preset.moduleFileExtensions, 'mjs'],
  transform: {
    ...preset.transform,
    '^.+\\.mjs$': ['@swc/jest', swcOptions({ module: 'commonjs' })],
  },
};
