import type { RequestParameter } from '@glovebox/definitions';
import type { Work } from '@glovebox/expressions';
import { typedMembers } from '@glovebox/vault';
import { isJsonObject, numberOf } from '@glovebox/wire';
import { valueAt } from './reactor-arguments';
import type { OpenedValues } from './opened-values';
import {
  addScalar,
  addValue,
  addValues,
  charactersOf,
  eachLine,
  emptyIndex,
  knownValuesMax,
  look,
  nameLengthMin,
  valuesAtOnce,
  type Index,
  type OnFound,
} from './known-values';

/**
 * Takes texts of at most 64 KB that stand one below the other: what code throws, or the lines of its
 * log. A value may be spread over several of them.
 */
export type Redact = (lines: readonly string[]) => Work<string[]>;

/** Everything that a run knows, and that no text of its code may show. */
export interface KnownToRun {
  /** The data of tokens that was opened for the run. */
  readonly data: readonly unknown[];
  /** The data that the code opened or stored itself. */
  readonly opened: OpenedValues;
  readonly args: Readonly<Record<string, unknown>>;
  /**
   * The arguments before their expressions were replaced: what has none came in plain. Undefined:
   * nobody knows what did.
   */
  readonly sent: unknown;
  readonly configuration: Readonly<Record<string, unknown>>;
  /** Declared names are no secrets, nor are those that the code contains. */
  readonly parameters: readonly RequestParameter[];
  readonly code: string;
}

/** The cost of redacting what one run threw: about 200 ms at worst, in slices. */
const redactionStepsMax = 4_000_000;
/** So short a value is shown if it came in plain: counts, flags and codes of two letters. */
const plainLengthMax = 2;
export const redacted = '[redacted]';

/**
 * Redacts every value that the run knew in a text: data of tokens, configuration, and of what came
 * in plain all that is neither short nor declared loggable. Finds a value as it is, JSON-escaped,
 * percent-encoded, in base64, in hex, in a printed Buffer and wrapped over lines. Finds names of
 * members of the data in the same way. Shows nothing of a text that would take too much work.
 * `true`, `false` and `null` are no secrets.
 */
export function redactorOf(known: KnownToRun, stepsMax = redactionStepsMax): Redact {
  let index: Index | 'too many' | undefined;
  let stepsLeft = stepsMax;
  return function* (lines) {
    // Most runs throw nothing, so the index is made for the first text.
    index ??= yield* indexOf(known);
    if (index === 'too many') return lines.map(() => redacted);
    const hidden = new Uint8Array(charactersOf(lines));
    const found: OnFound = (from, to) => hidden.fill(1, from, to);
    stepsLeft -= yield* look(lines, index, found, stepsLeft);
    if (stepsLeft <= 0) return lines.map(() => redacted);
    return eachLine(lines, (line, begin, end) => withoutHidden(line, hidden.subarray(begin, end)));
  };
}

function* indexOf(known: KnownToRun): Work<Index | 'too many'> {
  const { data, opened, configuration, code } = known;
  if (opened.values === undefined) return 'too many';
  const index = emptyIndex(code);
  const names = new Set<string>();
  const shown = shownNames(known);
  const addName = (name: string): void => {
    if (name.length >= nameLengthMin && !shown.has(name)) names.add(name);
  };
  let left = yield* addArguments(index, known, knownValuesMax);
  left = yield* addValues(index, [configuration], left);
  left = yield* addValues(index, [data, opened.values], left, addName);
  left -= names.size;
  if (left < 0) return 'too many';
  index.namesFrom = index.values.length;
  let count = 0;
  for (const name of names) {
    addValue(index, name);
    count += 1;
    if (count % valuesAtOnce === 0) yield;
  }
  return index;
}

/** A place in the arguments. */
interface ArgumentPlace {
  readonly value: unknown;
  /** What was sent there. Undefined below an expression, and where nobody knows. */
  readonly sent: unknown;
  /** What is declared loggable there and below; `true`: all of it. */
  readonly loggable: Loggable | true | undefined;
}

/** The parts of the declared names of loggable parameters, level by level. */
type Loggable = Map<string, Loggable | true>;

/** Adds every argument that is not shown. Returns how many values are left. */
function* addArguments(index: Index, known: KnownToRun, valuesMax: number): Work<number> {
  const { args, sent, parameters } = known;
  const loggable = loggableOf(parameters);
  const open = [placesOf({ value: args, sent, loggable })];
  let left = valuesMax;
  for (let inner = open.at(-1); inner !== undefined && left >= 0; inner = open.at(-1)) {
    const next = inner.next();
    if (next.done) {
      open.pop();
      continue;
    }
    left -= 1;
    if (left % valuesAtOnce === 0) yield;
    const { value } = next.value;
    if (Array.isArray(value) && value.length > left) return -1;
    if (typeof value === 'object' && value !== null) open.push(placesOf(next.value));
    else if (!isShown(next.value)) addScalar(index, value);
  }
  for (const { name, type } of parameters) {
    if (type === 'number') addCastNumber(index, known, name.split('.'), loggable);
  }
  return left - parameters.length;
}

function* placesOf({ value, sent, loggable }: ArgumentPlace): Generator<ArgumentPlace> {
  if (Array.isArray(value)) {
    // Walked in place: copying a large one would make a slice too long.
    for (const [nth, item] of (value as unknown[]).entries()) {
      const ofItem = Array.isArray(sent) ? (sent as unknown[])[nth] : undefined;
      // Declared names lead into objects alone.
      yield { value: item, sent: ofItem, loggable: loggable === true ? true : undefined };
    }
    return;
  }
  for (const [name, member] of Object.entries(value as object)) {
    const ofMember = isJsonObject(sent) && Object.hasOwn(sent, name) ? sent[name] : undefined;
    yield { value: member, sent: ofMember, loggable: below(loggable, name) };
  }
}

const below = (loggable: ArgumentPlace['loggable'], name: string): ArgumentPlace['loggable'] =>
  loggable === true ? true : loggable?.get(name);

function loggableOf(parameters: readonly RequestParameter[]): Loggable {
  const all: Loggable = new Map();
  for (const { name, loggable } of parameters) {
    if (loggable !== true) continue;
    const path = name.split('.');
    const last = path.pop() ?? '';
    let level: Loggable | true = all;
    for (const part of path) {
      if (level === true) break;
      const next: Loggable | true = level.get(part) ?? new Map();
      level.set(part, next);
      level = next;
    }
    if (level !== true) level.set(last, true);
  }
  return all;
}

/** Tells whether a value came in plain and is no secret. It may be known from elsewhere too. */
function isShown({ value, sent, loggable }: ArgumentPlace): boolean {
  const cameInPlain = typeof sent === 'string' ? !sent.includes('{{') : sent !== undefined;
  return cameInPlain && (loggable === true || String(value).length <= plainLengthMax);
}

/** Numbers that code gets in place of texts such as `0042`. */
function addCastNumber(
  index: Index,
  { args, sent }: KnownToRun,
  path: readonly string[],
  declared: Loggable,
): void {
  const text = valueAt(args, path);
  const value = typeof text === 'string' ? numberOf(text) : undefined;
  if (value === undefined) return;
  const loggable = path.reduce<ArgumentPlace['loggable']>(below, declared);
  const place = { value, sent: isJsonObject(sent) ? valueAt(sent, path) : undefined, loggable };
  if (!isShown(place)) addScalar(index, value);
}

/** Names of members that tell nothing: everybody knows them, or the author declared them. */
function shownNames({ configuration, parameters }: KnownToRun): ReadonlySet<string> {
  const declared = parameters.flatMap(({ name }) => name.split('.'));
  return new Set([...typedMembers, ...declared, ...Object.keys(configuration)]);
}

function withoutHidden(text: string, hidden: Uint8Array): string {
  let shown = '';
  for (let at = 0; at < text.length;) {
    const isHidden = hidden[at];
    const end = hidden.indexOf(isHidden ? 0 : 1, at);
    const next = end === -1 ? text.length : end;
    shown += isHidden ? redacted : text.slice(at, next);
    at = next;
  }
  return shown;
}
