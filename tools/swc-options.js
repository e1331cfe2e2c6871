/**
 * The options of swc for specs and build: tests run the code that production runs.
 *
 * @param {{ module: 'commonjs' | 'es6' }} options
 * @returns {import('@swc/core').Options}
 */
exports.swcOptions = ({ module }) => ({
  jsc: {
    target: 'es2022',
    keepClassNames: true,
    parser: { syntax: 'typescript', decorators: true },
    transform: {
      legacyDecorator: true,
      decoratorMetadata: true,
      useDefineForClassFields: false,
    },
  },
  module: { type: module },
  sourceMaps: 'inline',
});
