import { Tally, type Budget } from '../bounds/limits';
import type { Work } from '../bounds/time-slices';
import { toText } from '../filters/value-filters';
import { plainSyntax, SpanScanner, type Syntax } from '../scan/span-scanner';
import type { Expression } from '../scan/expression';
import type { Piece } from '../scan/template-pieces';
import { DocumentPath } from './document-path';
import { evaluate, filledText, type Values } from './render';
import { templateFrom, tokenIdsOf, type Template } from './template';

/**
 * Reads parsed JSON, such as the arguments of a reactor. A string that is exactly one expression
 * becomes the value with its type. In longer text a value becomes text. Member names are never
 * expanded.
 */
export function valueTemplate(value: unknown, tally?: Tally): Template<unknown> {
  if (!mayExpand(value)) return plainTemplate(value);
  return templateOf(value, plainSyntax, tally ?? new Tally());
}

/** Hot path: most arguments have no brace, and are taken as they are. */
export function mayExpand(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('{{');
  if (Array.isArray(value)) return value.some(mayExpand);
  if (!isObject(value)) return false;
  for (const name of Object.keys(value)) if (mayExpand(value[name])) return true;
  return false;
}

const noTokens: readonly string[] = [];

const plainTemplate = (value: unknown): Template<unknown> => ({
  tokenIds: noTokens,
  render: () => value,
  renderInSlices: () => Promise.resolve(value),
});

/** A document over given data, such as a mask: `{{ data.number | last4 }}`. */
interface DataTemplate {
  render(data: unknown, budget?: Budget): unknown;
}

/** Does the same as `valueTemplate`, but each expression begins with `data` or a path below it. */
export function dataTemplate(document: unknown, tally = new Tally()): DataTemplate {
  const template = templateOf(document, { ...plainSyntax, root: 'data' }, tally);
  return { render: (data, budget) => template.render(new Map([['data', data]]), budget) };
}

/** A text over a document and a place in it: `ends in {{ $.card.number | last4 }}`. */
interface PlaceTemplate {
  make(document: unknown, value: unknown, budget: Budget): Work<unknown>;
}

/** Each expression begins with the document, `$`, or with the value at the place, `@`. */
export function placeTemplate(text: string, tally = new Tally()): PlaceTemplate {
  const scan = (part: string): Piece[] =>
    new SpanScanner({ ...plainSyntax, root: 'place' }, tally).write(part, true);
  const build = textBuilder(text, { path: new DocumentPath(), scan });
  return {
    *make(document, value, budget) {
      // The text is made for each of many places, so plain text counts as well.
      budget.spend(text);
      if (!build) return text;
      const roots = new Map([
        ['$', document],
        ['@', value],
      ]);
      return yield* build(roots, budget);
    },
  };
}

function templateOf(document: unknown, syntax: Syntax, tally: Tally): Template<unknown> {
  const tokenIds = new Set<string>();
  const path = new DocumentPath();
  const scan = (text: string): Piece[] => {
    const pieces = new SpanScanner(syntax, tally, () => path.text).write(text, true);
    for (const id of tokenIdsOf(pieces)) tokenIds.add(id);
    return pieces;
  };
  const build = builderOf(document, { path, scan });
  return templateFrom([...tokenIds], build ?? (() => unchanged(document)));
}

function* unchanged(document: unknown): Work<unknown> {
  return document;
}

type Build = (values: Values, budget: Budget) => Work<unknown>;

interface Scan {
  readonly path: DocumentPath;
  readonly scan: (text: string) => readonly Piece[];
}

/** Undefined when the value holds no expression: a million of such values cost no memory. */
function builderOf(value: unknown, scan: Scan): Build | undefined {
  if (typeof value === 'string') return textBuilder(value, scan);
  if (Array.isArray(value)) return arrayBuilder(value, scan);
  return isObject(value) ? objectBuilder(value, scan) : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function textBuilder(text: string, { scan }: Scan): Build | undefined {
  const open = text.indexOf('{{');
  if (open < 0 || !text.includes('}}', open + 2)) return undefined;
  const pieces = scan(text);
  if (pieces.every((piece) => typeof piece === 'string')) return undefined;
  const [only, second] = pieces;
  if (typeof only !== 'object' || second !== undefined) {
    return (values, budget) => filledText(pieces, values, budget, toText);
  }
  return (values, budget) => wholeValue(only.expression, values, budget);
}

function* wholeValue(expression: Expression, values: Values, budget: Budget): Work<unknown> {
  const value = yield* evaluate(expression, values, budget);
  budget.observers.onFilledIn?.(expression.source, value);
  budget.spend(toText(value));
  return value;
}

function arrayBuilder(items: readonly unknown[], scan: Scan): Build | undefined {
  const changes: Change<number>[] = [];
  items.forEach((item, at) => {
    scan.path.push(at);
    const build = builderOf(item, scan);
    if (build) changes.push([at, build]);
    scan.path.pop();
  });
  if (changes.length === 0) return undefined;
  return (values, budget) => changed([...items], changes, values, budget);
}

function objectBuilder(object: Readonly<Record<string, unknown>>, scan: Scan): Build | undefined {
  const changes: Change<string>[] = [];
  Object.keys(object).forEach((name, at) => {
    scan.path.push(at, name);
    const build = builderOf(object[name], scan);
    if (build) changes.push([name, build]);
    scan.path.pop();
  });
  if (changes.length === 0) return undefined;
  // A spread defines members. Assigning to a defined member also works for one called __proto__.
  return (values, budget) => changed({ ...object }, changes, values, budget);
}

type Change<Key> = readonly [key: Key, build: Build];

function* changed<Key extends string | number>(
  copy: Record<Key, unknown>,
  changes: readonly Change<Key>[],
  values: Values,
  budget: Budget,
): Work<unknown> {
  for (const [key, build] of changes) copy[key] = yield* build(values, budget);
  return copy;
}
