/**
 * Node looks up the status of its main script and of every folder above it, which a sandbox may
 * not. This text, given by `-e`, reads the script and compiles it under its own name instead.
 *
 * `-e` makes every module of Node a global. They are removed before the script begins, so that the
 * globals are those of a script that Node started by its path. Runs on Node 16 and newer.
 */
export const startScript = `((require, file) => {
  const globals = ['require', 'module', 'exports', '__filename', '__dirname'];
  for (const name of require('module').builtinModules) {
    const known = Object.getOwnPropertyDescriptor(globalThis, name);
    if (name !== 'process' && known && known.get && known.set) globals.push(name);
  }
  for (const name of globals) delete globalThis[name];
  // Node puts the last one back when this text has run.
  process.nextTick(() => delete globalThis.module);
  delete process._eval;
  process.execArgv.length = 0;
  const module = { exports: {} };
  const names = ['exports', 'require', 'module', '__filename', '__dirname'];
  const code = require('fs').readFileSync(file, 'utf8');
  const run = require('vm').compileFunction(code, names, { filename: file });
  run.call(module.exports, module.exports, require, module, file, require('path').dirname(file));
})(require, process.argv[1]);`;
