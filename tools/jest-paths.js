const path = require('node:path');
const { compilerOptions } = require('../tsconfig.base.json');

/** The aliases of tsconfig.base.json in the form that Jest understands. */
exports.pathsToModuleNameMapper = () =>
  Object.fromEntries(
    Object.entries(compilerOptions.paths).map(([alias, [target = '']]) => [
      `^${alias}$`,
      path.join(__dirname, '..', target),
    ]),
  );
