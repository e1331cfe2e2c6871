import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, relative, resolve } from 'node:path';
import ts from 'typescript';

/**
 * @typedef {'code' | 'tests'} User
 * @typedef {{ file: string, name: string }} Origin an export of a file; `*` is all of them
 * @typedef {{
 *   exports: Map<string, Origin | undefined>,
 *   imports: Origin[],
 *   wholes: string[],
 *   usedInside: (name: string) => boolean,
 * }} Module
 */

const areas = ['apps', 'libs', 'acceptance', 'tools', 'bench', 'docker'];
/** @param {string} file */
const isSource = (file) => /\.(ts|mjs|cjs|js)$/.test(file) && !/node_modules|\.d\.ts$/.test(file);

/**
 * Files that only tests and measurements load.
 *
 * @param {string} file
 */
const isForTests = (file) =>
  /^(acceptance|bench|libs\/testing)\//.test(file) ||
  /\.(spec|faults|soak|cases)\.\w+$/.test(file) ||
  /(^|\/)(spec-[^/]*|property\/.*|__fixtures__\/.*)$/.test(file);

/**
 * Loaded by path: by Jest and ESLint, settings by npm run docs, measurements by npm run bench.
 *
 * @param {string} file
 * @param {string} name
 */
const isLoadedByPath = (file, name) =>
  /(^|\/)(jest\.(config|preset)\.js|eslint\.config\.mjs|longest-first\.mjs)$/.test(file) ||
  (/^apps\/[^/]+\/src\/config\.ts$/.test(file) && name === 'settings') ||
  (/^bench\/[^/]+\.mjs$/.test(file) && ['about', 'run'].includes(name));

/**
 * Exports that nothing imports, as `path: name`. An export of the product that only tests and
 * measurements import counts as unused, unless its own file uses it, too.
 *
 * @param {string} root
 */
export function unusedExports(root) {
  const inAreas = areas
    .filter((area) => existsSync(join(root, area)))
    .flatMap((area) =>
      readdirSync(join(root, area), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(area, file),
      ),
    );
  const files = [...readdirSync(root), ...inAreas].filter(isSource);
  const aliases = aliasesOf(root);
  const modules = new Map(
    files.map((file) => [
      file,
      read(root, file, (from, name) => locate(root, aliases, from, name)),
    ]),
  );
  /** @type {Map<string, Map<string, User>>} */
  const users = new Map(files.map((file) => [file, new Map()]));
  for (const [file, { imports }] of modules) {
    const by = isForTests(file) ? 'tests' : 'code';
    for (const origin of imports) mark(modules, users, { ...origin, by });
  }
  /**
   * @param {string} file
   * @param {string} name
   */
  const isUnused = (file, name) => {
    const by = users.get(file)?.get(name);
    if (by === undefined) return !isLoadedByPath(file, name);
    if (by === 'code' || isForTests(file)) return false;
    const found = modules.get(file);
    // The file that a re-export takes it from is judged for itself.
    return found?.exports.get(name) === undefined && found?.usedInside(name) === false;
  };
  return [...modules].flatMap(([file, { exports }]) =>
    [...exports.keys()].filter((name) => isUnused(file, name)).map((name) => `${file}: ${name}`),
  );
}

/**
 * An import of a re-export uses all that the name stands for, file by file.
 *
 * @param {Map<string, Module>} modules
 * @param {Map<string, Map<string, User>>} users
 * @param {Origin & { by: User }} use
 */
function mark(modules, users, { file, name, by }) {
  const found = modules.get(file);
  if (!found) return;
  const names = name === '*' ? [...found.exports.keys()] : [name];
  for (const each of names) {
    const known = users.get(file)?.get(each);
    if (known === by || known === 'code') continue;
    if (!found.exports.has(each)) {
      for (const from of found.wholes) mark(modules, users, { file: from, name: each, by });
      continue;
    }
    users.get(file)?.set(each, by);
    const origin = found.exports.get(each);
    if (origin) mark(modules, users, { ...origin, by });
  }
  if (name === '*') for (const from of found.wholes) mark(modules, users, { file: from, name, by });
}

/**
 * Exports (with the place that a re-export takes them from), imports, and whole re-exports.
 *
 * @param {string} root
 * @param {string} file
 * @param {(from: string, specifier: string) => string | undefined} find
 * @returns {Module}
 */
function read(root, file, find) {
  const text = readFileSync(join(root, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {Module['exports']} */
  const exports = new Map();
  /** @type {Origin[]} */
  const imports = [];
  /** @type {string[]} */
  const wholes = [];
  /**
   * @param {ts.Node} specifier
   * @param {readonly string[]} names
   */
  const importFrom = (specifier, names) => {
    const from = fileOf(specifier);
    if (from) for (const name of names) imports.push({ file: from, name });
  };
  /** @param {ts.Node | undefined} specifier */
  const fileOf = (specifier) =>
    specifier && ts.isStringLiteralLike(specifier) ? find(file, specifier.text) : undefined;

  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) {
      importFrom(statement.moduleSpecifier, namesOf(statement.importClause));
    } else if (ts.isExportDeclaration(statement)) {
      const from = fileOf(statement.moduleSpecifier);
      const clause = statement.exportClause;
      if (!clause && from) wholes.push(from);
      for (const { name, propertyName } of clause && ts.isNamedExports(clause)
        ? clause.elements
        : []) {
        const origin = from && { file: from, name: (propertyName ?? name).text };
        exports.set(name.text, origin || undefined);
      }
    } else if (ts.isExportAssignment(statement)) exports.set('default', undefined);
    else if (isExported(statement)) {
      for (const name of declaredNames(statement)) exports.set(name, undefined);
    }
  }
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const name = node.qualifier ? (node.qualifier.getText(source).split('.')[0] ?? '*') : '*';
      importFrom(node.argument.literal, [name]);
    }
    if (ts.isCallExpression(node) && node.arguments[0]) {
      const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword;
      const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require';
      if (isImport || isRequire) importFrom(node.arguments[0], takenOf(node));
    }
    for (const name of commonJsExport(node)) exports.set(name, undefined);
    ts.forEachChild(node, visit);
  };
  if (/\bimport\(|\brequire\(|\bexports\b/.test(text)) visit(source);
  return { exports, imports, wholes, usedInside: (name) => timesNamed(source, name) > 1 };
}

/**
 * @param {ts.SourceFile} source
 * @param {string} name
 */
function timesNamed(source, name) {
  let times = 0;
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isIdentifier(node) && node.text === name) times += 1;
    ts.forEachChild(node, visit);
  };
  visit(source);
  return times;
}

/** @param {ts.ImportClause | undefined} clause */
function namesOf(clause) {
  if (!clause) return [];
  const named = clause.namedBindings;
  const names = clause.name ? ['default'] : [];
  if (!named) return names;
  if (ts.isNamespaceImport(named)) return [...names, '*'];
  return [...names, ...named.elements.map((part) => (part.propertyName ?? part.name).text)];
}

/**
 * The names that `const { a, b } = require(…)` or `await import(…)` takes, else all.
 *
 * @param {ts.CallExpression} call
 */
function takenOf(call) {
  const holder = ts.isAwaitExpression(call.parent) ? call.parent.parent : call.parent;
  if (ts.isPropertyAccessExpression(holder)) return [holder.name.text];
  if (!ts.isVariableDeclaration(holder) || !ts.isObjectBindingPattern(holder.name)) return ['*'];
  return holder.name.elements.map((part) => (part.propertyName ?? part.name).getText());
}

/** @param {ts.Statement} statement */
const isExported = (statement) =>
  ts.canHaveModifiers(statement) &&
  ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;

/** @param {ts.Statement} statement */
function declaredNames(statement) {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => boundNames(name));
  }
  const { name } = /** @type {ts.DeclarationStatement} */ (statement);
  return name ? [name.text] : [];
}

/**
 * @param {ts.BindingName} name
 * @returns {string[]}
 */
function boundNames(name) {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((part) => (ts.isBindingElement(part) ? boundNames(part.name) : []));
}

/**
 * `exports.name = …` and `module.exports = { name }`.
 *
 * @param {ts.Node} node
 * @returns {string[]}
 */
function commonJsExport(node) {
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.EqualsToken) {
    return [];
  }
  const target = node.left.getText();
  if (target === 'module.exports' && ts.isObjectLiteralExpression(node.right)) {
    return node.right.properties.flatMap(({ name }) => (name ? [name.getText()] : []));
  }
  return /^exports\.(\w+)$/.exec(target)?.slice(1) ?? [];
}

/**
 * @param {string} root
 * @returns {Map<string, string>}
 */
function aliasesOf(root) {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.base.json'), 'utf8'));
  return new Map(
    Object.entries(compilerOptions.paths).map(([name, [path]]) => [name, normalize(path)]),
  );
}

/**
 * The file that a specifier names, relative to the root; undefined for a package.
 *
 * @param {string} root
 * @param {Map<string, string>} aliases
 * @param {string} from
 * @param {string} specifier
 */
function locate(root, aliases, from, specifier) {
  if (aliases.has(specifier)) return aliases.get(specifier);
  if (!specifier.startsWith('.')) return undefined;
  const base = relative(root, resolve(root, dirname(from), specifier));
  return [base, `${base}.ts`, join(base, 'index.ts'), `${base}.js`].find(
    (file) => basename(file).includes('.') && existsSync(join(root, file)) && isSource(file),
  );
}
