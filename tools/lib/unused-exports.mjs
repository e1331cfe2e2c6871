import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const areas = ['apps', 'libs', 'acceptance', 'tools', 'bench', 'docker'];
const isSource = (file) =>
  /\.(ts|mjs|cjs|js)$/.test(file) && !/node_modules|[/\\]prebuilt[/\\]/.test(file);

/** Files that only tests and measurements load. */
const isForTests = (file) =>
  /^(acceptance|bench|libs\/testing)\//.test(file) ||
  /\.(spec|faults|soak|cases)\.\w+$/.test(file) ||
  /(^|\/)(spec-[^/]*|test-api\.ts|property\/.*|__fixtures__\/.*)$/.test(file);

/** Loaded by path: by Jest and ESLint, settings by npm run docs, measurements by npm run bench. */
const isLoadedByPath = (file, name) =>
  /(^|\/)(jest\.(config|preset)\.js|eslint\.config\.mjs)$/.test(file) ||
  (/^apps\/[^/]+\/src\/config\.ts$/.test(file) && name === 'settings') ||
  (/^bench\/[^/]+\.mjs$/.test(file) && ['about', 'run'].includes(name));

/**
 * Exports that nothing imports, as `path: name`. An export of the product that only tests and
 * measurements import counts as unused, unless its own file uses it, too.
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
  const users = new Map(files.map((file) => [file, new Map()]));
  for (const [file, { imports }] of modules) {
    for (const { from, name } of imports) {
      mark(modules, users, { file: from, name, by: isForTests(file) ? 'tests' : 'code' });
    }
  }
  const isUnused = (file, name) => {
    const by = users.get(file).get(name);
    if (by === undefined) return !isLoadedByPath(file, name);
    if (by === 'code' || isForTests(file)) return false;
    const { exports, usedInside } = modules.get(file);
    // The file that a re-export takes it from is judged for itself.
    return exports.get(name) === undefined && !usedInside(name);
  };
  return [...modules].flatMap(([file, { exports }]) =>
    [...exports.keys()].filter((name) => isUnused(file, name)).map((name) => `${file}: ${name}`),
  );
}

/** An import of a re-export uses all that the name stands for, file by file. */
function mark(modules, users, { file, name, by }) {
  const found = modules.get(file);
  if (!found) return;
  const names = name === '*' ? [...found.exports.keys()] : [name];
  for (const each of names) {
    const known = users.get(file).get(each);
    if (known === by || known === 'code') continue;
    if (!found.exports.has(each)) {
      for (const from of found.wholes) mark(modules, users, { file: from, name: each, by });
      continue;
    }
    users.get(file).set(each, by);
    const origin = found.exports.get(each);
    if (origin) mark(modules, users, { file: origin.from, name: origin.name, by });
  }
  if (name === '*') for (const from of found.wholes) mark(modules, users, { file: from, name, by });
}

/** Exports (with the place that a re-export takes them from), imports, and whole re-exports. */
function read(root, file, find) {
  const text = readFileSync(join(root, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const exports = new Map();
  const imports = [];
  const wholes = [];
  const importFrom = (specifier, names) => {
    const from = find(file, specifier);
    if (from) for (const name of names) imports.push({ from, name });
  };

  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) {
      importFrom(statement.moduleSpecifier.text, namesOf(statement.importClause));
    } else if (ts.isExportDeclaration(statement)) {
      const from = statement.moduleSpecifier && find(file, statement.moduleSpecifier.text);
      if (!statement.exportClause) wholes.push(from);
      else {
        for (const { name, propertyName } of statement.exportClause.elements ?? []) {
          exports.set(name.text, from && { from, name: (propertyName ?? name).text });
        }
      }
    } else if (ts.isExportAssignment(statement)) exports.set('default', undefined);
    else if (isExported(statement)) {
      for (const name of declaredNames(statement)) exports.set(name, undefined);
    }
  }
  const visit = (node) => {
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const name = node.qualifier ? node.qualifier.getText(source).split('.')[0] : '*';
      importFrom(node.argument.literal.text, [name]);
    }
    if (ts.isCallExpression(node) && ts.isStringLiteralLike(node.arguments[0] ?? node)) {
      const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword;
      const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require';
      if (isImport || isRequire) importFrom(node.arguments[0].text, takenOf(node));
    }
    const exported = commonJsExport(node);
    if (exported) for (const name of exported) exports.set(name, undefined);
    ts.forEachChild(node, visit);
  };
  if (/\bimport\(|\brequire\(|\bexports\b/.test(text)) visit(source);
  return { exports, imports, wholes, usedInside: (name) => timesNamed(source, name) > 1 };
}

function timesNamed(source, name) {
  let times = 0;
  const visit = (node) => {
    if (ts.isIdentifier(node) && node.text === name) times += 1;
    ts.forEachChild(node, visit);
  };
  visit(source);
  return times;
}

function namesOf(clause) {
  if (!clause) return [];
  const named = clause.namedBindings;
  const names = clause.name ? ['default'] : [];
  if (!named) return names;
  if (ts.isNamespaceImport(named)) return [...names, '*'];
  return [...names, ...named.elements.map((part) => (part.propertyName ?? part.name).text)];
}

/** The names that `const { a, b } = require(…)` or `await import(…)` takes, else all. */
function takenOf(call) {
  const holder = ts.isAwaitExpression(call.parent) ? call.parent.parent : call.parent;
  if (ts.isPropertyAccessExpression(holder)) return [holder.name.text];
  if (!ts.isVariableDeclaration(holder) || !ts.isObjectBindingPattern(holder.name)) return ['*'];
  return holder.name.elements.map((part) => (part.propertyName ?? part.name).text);
}

const isExported = (statement) =>
  statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;

function declaredNames(statement) {
  if (!ts.isVariableStatement(statement)) return statement.name ? [statement.name.text] : [];
  return statement.declarationList.declarations.flatMap(({ name }) =>
    ts.isIdentifier(name) ? [name.text] : name.elements.map((part) => part.name.text),
  );
}

/** `exports.name = …` and `module.exports = { name }`. */
function commonJsExport(node) {
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.EqualsToken) {
    return undefined;
  }
  const target = node.left.getText();
  if (target === 'module.exports' && ts.isObjectLiteralExpression(node.right)) {
    return node.right.properties.flatMap(({ name }) => (name ? [name.getText()] : []));
  }
  return /^exports\.(\w+)$/.exec(target)?.slice(1);
}

function aliasesOf(root) {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.base.json'), 'utf8'));
  return new Map(
    Object.entries(compilerOptions.paths).map(([name, [path]]) => [name, relative('.', path)]),
  );
}

/** The file that a specifier names, relative to the root; undefined for a package. */
function locate(root, aliases, from, specifier) {
  if (aliases.has(specifier)) return aliases.get(specifier);
  if (!specifier.startsWith('.')) return undefined;
  const base = relative(root, resolve(root, dirname(from), specifier));
  return [base, `${base}.ts`, join(base, 'index.ts'), `${base}.js`].find(
    (file) => basename(file).includes('.') && existsSync(join(root, file)) && isSource(file),
  );
}
