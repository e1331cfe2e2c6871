import { isPlace } from './thrown-error';

/** The name of customers' code in the stacks of its errors. */
export const codeName = 'reactor.js';

/** A line and a column in customers' code, counted from 1. */
export interface CodePlace {
  readonly line: number;
  readonly column: number;
}

/** The stack of code that does not compile begins with its line, and a mark below that. */
const syntaxError = /^reactor\.js:(\d{1,7})\n.*\n([ \t]*)\^/;

export function placeOfSyntaxError(stack: string): CodePlace | undefined {
  const [found, line, indent = ''] = syntaxError.exec(stack) ?? [];
  return found === undefined ? undefined : placeAt(Number(line), indent.length + 1);
}

/** Undefined unless both may be shown. */
export function placeAt(line: unknown, column: unknown): CodePlace | undefined {
  return isPlace(line) && isPlace(column) ? { line, column } : undefined;
}

const ofModules = /^(?:Cannot use (?:import statement|'import\.meta')|Unexpected token 'export')/;

/** What the message of a syntax error ends with where the code is an ES module. */
export const adviceOnSyntax = (message: string): string =>
  ofModules.test(message) ? '. Use module.exports / require.' : '';
