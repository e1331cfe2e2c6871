import type { Budget } from '../bounds/limits';
import type { Work } from '../bounds/time-slices';
import { Opaque, plainOf } from './opaque';
import { quoted, Reader, unquote } from './reader';

type Selector =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'item'; readonly index: number }
  | { readonly kind: 'every' };

interface Step {
  readonly selector: Selector;
  /** `..`: applies to the value and to everything below it. */
  readonly isRecursive: boolean;
}

export type JsonPath = readonly Step[];

const pathStepsMax = 64;

export function parseJsonPath(text: string): JsonPath | undefined {
  const reader = new Reader(text);
  if (!reader.take(/\$/y)) return undefined;
  const path = readSteps(reader);
  return path && reader.isAtEnd ? path : undefined;
}

/**
 * Reads steps as far as there are any. Undefined if one of them is broken. A second `..` would
 * visit the values below each value below, and each further one would multiply that again.
 */
export function readSteps(reader: Reader): JsonPath | undefined {
  const steps: Step[] = [];
  for (;;) {
    const isRecursive = reader.take(/\.(?=\.)/y) !== null;
    const isNamed = reader.take(/\./y) !== null;
    const isBracketed = (isRecursive || !isNamed) && reader.take(/\[\s*/y) !== null;
    if (!isNamed && !isBracketed) return steps;
    const selector = isBracketed ? readBracket(reader) : readName(reader);
    if (!selector || steps.length === pathStepsMax) return undefined;
    if (isRecursive && steps.some((step) => step.isRecursive)) return undefined;
    steps.push({ selector, isRecursive });
  }
}

function readName(reader: Reader): Selector | undefined {
  if (reader.take(/\*/y)) return { kind: 'every' };
  const name = reader.take(/[^\s.[\]'"*|]+/y);
  return name ? { kind: 'member', name: name[0] } : undefined;
}

function readBracket(reader: Reader): Selector | undefined {
  const selector = readBracketed(reader);
  return reader.take(/\s*\]/y) ? selector : undefined;
}

function readBracketed(reader: Reader): Selector | undefined {
  if (reader.take(/\*/y)) return { kind: 'every' };
  const index = reader.take(/-?\d{1,9}/y);
  if (index) return { kind: 'item', index: Number(index[0]) };
  const name = reader.take(quoted);
  return name ? { kind: 'member', name: unquote(name) } : undefined;
}

export type Container = Record<string, unknown> | unknown[];

/** True for a value that has values below it. */
export function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null && !(value instanceof Opaque);
}

/** The place of a value: in an object or a list, at a depth below the document. */
export interface PlaceInDocument {
  readonly parent: Container;
  readonly key: string | number;
  readonly depth: number;
  /** The place of its parent; undefined for the document. */
  readonly up: PlaceInDocument | undefined;
}

interface Visit extends PlaceInDocument {
  /** The index of the next step of the path. */
  readonly at: number;
}

const visitsOfSlice = 4_096;

/**
 * Finds all places that a path leads to, in the order of the document, but none inside another.
 * Returns one more than `max` when there are more. The document is the only item of `holder`.
 * `look` is called for each value that is visited.
 */
export function* placesAt(
  holder: [document: unknown],
  path: JsonPath,
  max: number,
  look: () => void,
): Work<PlaceInDocument[]> {
  const found: PlaceInDocument[] = [];
  const taken = new Set<unknown>();
  const waiting: Visit[] = [{ parent: holder, key: 0, depth: 0, up: undefined, at: 0 }];
  for (let visits = 1; found.length <= max; visits += 1) {
    const visit = waiting.pop();
    if (!visit) break;
    look();
    if (visits % visitsOfSlice === 0) yield;
    const value = valueOf(visit);
    const step = path[visit.at];
    if (!step) {
      found.push(visit);
      taken.add(value);
    } else if (isContainer(value) && !taken.has(value)) {
      const { depth, at } = visit;
      const add = (keys: readonly (string | number)[], next: number): void => {
        for (let index = keys.length - 1; index >= 0; index -= 1) {
          waiting.push({
            parent: value,
            key: keys[index] ?? '',
            depth: depth + 1,
            up: visit,
            at: next,
          });
        }
      };
      // The last place added is the first to be visited: matches here come before those below.
      if (step.isRecursive) add(keysOf(value), at);
      add(selectedKeys(value, step.selector), at + 1);
    }
  }
  return found;
}

export function valueOf({ parent, key }: Pick<PlaceInDocument, 'parent' | 'key'>): unknown {
  return (parent as Record<string | number, unknown>)[key];
}

function keysOf(parent: Container): readonly (string | number)[] {
  return Array.isArray(parent) ? [...parent.keys()] : Object.keys(parent);
}

function selectedKeys(parent: Container, selector: Selector): readonly (string | number)[] {
  if (selector.kind === 'every') return keysOf(parent);
  if (selector.kind === 'member') {
    const isMember = !Array.isArray(parent) && Object.hasOwn(parent, selector.name);
    return isMember ? [selector.name] : [];
  }
  if (!Array.isArray(parent)) return [];
  const index = selector.index < 0 ? parent.length + selector.index : selector.index;
  return index in parent ? [index] : [];
}

/** Splits a path that ends in a member into the path to the object and the member's name. */
export function memberPath(path: JsonPath): { parent: JsonPath; name: string } | undefined {
  const last = path.at(-1);
  if (last?.selector.kind !== 'member' || last.isRecursive) return undefined;
  return { parent: path.slice(0, -1), name: last.selector.name };
}

/** The one value that a path leads to. Undefined if it leads to none or to several. */
export function valueAt(value: unknown, path: JsonPath, budget: Budget): unknown {
  const found = firstTwo(value, path, budget);
  return found.length === 1 ? plainOf(found[0]) : undefined;
}

/** How many values a path leads to that does not lead to one. */
export function missedAt(
  value: unknown,
  path: JsonPath,
  budget: Budget,
): 'none' | 'several' | undefined {
  const { length } = firstTwo(value, path, budget);
  return length === 0 ? 'none' : length > 1 ? 'several' : undefined;
}

function firstTwo(value: unknown, path: JsonPath, budget: Budget): readonly unknown[] {
  const found: unknown[] = [];
  find(value, path, 0, found, budget);
  return found;
}

function find(value: unknown, path: JsonPath, at: number, found: unknown[], budget: Budget): void {
  const step = path[at];
  if (!step) {
    found.push(value);
    return;
  }
  for (const child of selected(value, step.selector, budget)) {
    if (found.length < 2) find(child, path, at + 1, found, budget);
  }
  if (!step.isRecursive) return;
  for (const child of childrenOf(value, budget)) {
    if (found.length < 2) find(child, path, at, found, budget);
  }
}

function selected(value: unknown, selector: Selector, budget: Budget): readonly unknown[] {
  if (selector.kind === 'every') return childrenOf(value, budget);
  budget.work(visitCost);
  if (!isContainer(value)) return [];
  if (selector.kind === 'item') {
    if (!Array.isArray(value)) return [];
    const index = selector.index < 0 ? value.length + selector.index : selector.index;
    return index in value ? [value[index]] : [];
  }
  if (Array.isArray(value) || !Object.hasOwn(value, selector.name)) return [];
  return [value[selector.name]];
}

/**
 * Charged to the budget in characters: to visit a value takes about as long as to read this many.
 */
const visitCost = 16;

/** Each visit is charged: a thousand paths over a large value could otherwise go on and on. */
function childrenOf(value: unknown, budget: Budget): readonly unknown[] {
  budget.work(visitCost);
  if (!isContainer(value)) return [];
  const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
  budget.work(children.length * visitCost);
  return children;
}
