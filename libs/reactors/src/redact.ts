import type { RequestParameter } from '@glovebox/definitions';
import type { Work } from '@glovebox/expressions';
import { typedMembers } from '@glovebox/vault';
import { isJsonObject, numberOf } from '@glovebox/wire';
import { valueAt } from './reactor-arguments';
import type { OpenedValues } from './opened-values';
import { byteText, cutsIn, joinedLines, partLengthMin, viewsOf, type View } from './redact-views';

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

/**
 * Arguments hold at most 100,000 values; those that came from tokens are known twice, and have
 * names.
 */
export const knownValuesMax = 350_000;
/** The cost of redacting what one run threw: about 200 ms at worst, in slices. */
const redactionStepsMax = 4_000_000;
/** Only the beginning of a longer value is searched for. No text is longer, with its line breaks. */
const valueCharactersMax = 66 * 1024;
/** Shorter names of members are ordinary words. */
const nameLengthMin = 7;
/** The cost of making a byte of a view and looking it up. Comparing values comes on top. */
const stepsPerByte = 8;
/** The characters of code that are searched for a name in one step. */
const codePerStep = 4;
/** The work between two points where others may be served. */
const stepsAtOnce = 50_000;
const placesAtOnce = 4_096;
/** The longest short word in UTF-8. */
const wordBytesMax = 3 * (partLengthMin - 1);
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

/** Names of members of our own types of data. */
const typedNames: ReadonlySet<string> = new Set(typedMembers);

/** A value, and the text that is shown in its place. Names of its members count as values. */
export interface NamedValue {
  readonly name: string;
  readonly value: unknown;
}

/** A part of a text: as it is, or the name of the value that it shows. */
export type NamedPart = { readonly text: string } | { readonly name: string };

/**
 * Finds these values in texts, in every form that `redactorOf` finds, and names them. Of two that
 * overlap the longer one is named, of two that are the same the first. Undefined: it would take too
 * much work.
 */
export function* nameValues(
  lines: readonly string[],
  known: readonly NamedValue[],
  stepsMax: number,
): Work<readonly (readonly NamedPart[])[] | undefined> {
  const index = emptyIndex('');
  const names = new Map<string, string>();
  let left = knownValuesMax;
  let wordsNamed = 0;
  const words = index.words.keys();
  for (const { name, value } of known) {
    const before = index.values.length;
    const members = new Set<string>();
    left = yield* addValues(index, [value], left, (member) => members.add(member));
    for (const member of members) {
      if (member.length >= nameLengthMin && !typedNames.has(member)) addValue(index, member);
    }
    left -= members.size;
    if (left < 0) return undefined;
    for (const added of index.values.slice(before)) {
      const bytes = byteText(added.slice(0, valueCharactersMax));
      if (!names.has(bytes)) names.set(bytes, name);
    }
    // Words stand in the order in which they were added: the walk goes on where it was.
    for (; wordsNamed < index.words.size; wordsNamed += 1)
      names.set(words.next().value ?? '', name);
  }
  const length = charactersOf(lines);
  const nameAt: (string | undefined)[] = Array.from({ length });
  const longestAt = new Int32Array(length);
  const onFound: OnFound = (from, to, value) => {
    const end = Math.min(to, length);
    const name = names.get(value) ?? redacted;
    for (let at = from; at < end; at += 1) {
      if (end - from < (longestAt[at] ?? 0)) continue;
      longestAt[at] = end - from;
      nameAt[at] = name;
    }
  };
  if ((yield* look(lines, index, onFound, stepsMax)) >= stepsMax) return undefined;
  return eachLine(lines, (line, begin, end) => namedParts(line, nameAt.slice(begin, end)));
}

function namedParts(line: string, nameAt: readonly (string | undefined)[]): NamedPart[] {
  const parts: NamedPart[] = [];
  for (let at = 0; at < line.length;) {
    const name = nameAt[at];
    let end = at + 1;
    while (end < line.length && nameAt[end] === name) end += 1;
    parts.push(name === undefined ? { text: line.slice(at, end) } : { name });
    at = end;
  }
  return parts;
}

/** Texts that stand one below the other, with a line break between two. */
const charactersOf = (lines: readonly string[]): number =>
  lines.reduce((sum, { length }) => sum + length, Math.max(lines.length - 1, 0));

function eachLine<Shown>(
  lines: readonly string[],
  show: (line: string, begin: number, end: number) => Shown,
): Shown[] {
  let end = -1;
  return lines.map((line) => {
    const begin = end + 1;
    end = begin + line.length;
    return show(line, begin, end);
  });
}

/** Looks for known values in every view. Returns the steps it took, at least `stepsMax` if too many. */
function* look(
  lines: readonly string[],
  index: Index,
  onFound: OnFound,
  stepsMax: number,
): Work<number> {
  let steps = 0;
  const cuts = cutsIn(lines.join('\n'));
  for (const view of viewsOf(lines)) {
    if (steps < stepsMax) steps += yield* hide(view, index, { onFound, cuts }, stepsMax - steps);
    if (steps >= stepsMax) break;
  }
  return steps;
}

// ---- the index of known values, by their first bytes ----

interface Index {
  /** The last value of each hash of four first bytes; `before` has the value before each. */
  readonly last: Int32Array;
  readonly before: number[];
  readonly values: string[];
  /** The bytes of values whose beginning was met in a text, by their place. */
  readonly bytes: Map<number, string>;
  /** Short values by their bytes, with their length as text. */
  readonly words: Map<string, number>;
  /** The values from this place on are names. */
  namesFrom: number;
  /** Whether the code contains a name that was met in a text, by its place. */
  readonly inCode: Map<number, boolean>;
  readonly code: string;
}

const hashBits = 16;
/** A value is compared with so many of the same hash, to keep it only once. */
const doublesSearched = 8;
/** Values added to the index between two points where others may be served. */
const valuesAtOnce = 1_000;

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

const emptyIndex = (code: string): Index => ({
  last: new Int32Array(1 << hashBits).fill(-1),
  before: [],
  values: [],
  bytes: new Map(),
  words: new Map(),
  namesFrom: Infinity,
  inCode: new Map(),
  code,
});

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

/** Adds every value within these, and calls `onName` with each name. Returns how many are left. */
function* addValues(
  index: Index,
  values: readonly unknown[],
  valuesMax: number,
  onName?: (name: string) => void,
): Work<number> {
  // Lists are walked in place: copying a large one would make a slice too long.
  const open: Iterator<unknown>[] = [values.values()];
  let left = valuesMax;
  for (let inner = open.at(-1); inner !== undefined && left >= 0; inner = open.at(-1)) {
    const next = inner.next();
    if (next.done) {
      open.pop();
      continue;
    }
    const value = next.value;
    left -= 1;
    if (left % valuesAtOnce === 0) yield;
    if (Array.isArray(value)) {
      if (value.length > left) return -1;
      open.push(value.values());
    } else if (typeof value === 'object' && value !== null) {
      if (onName) Object.keys(value).forEach(onName);
      open.push(Object.values(value).values());
    } else addScalar(index, value);
  }
  return left;
}

function addScalar(index: Index, value: unknown): void {
  if (typeof value === 'string') addText(index, value);
  else if (typeof value === 'number') addValue(index, String(value));
}

/** A text of several lines may be wrapped at other places than its own. */
function addText(index: Index, text: string): void {
  addValue(index, text);
  const beginning = text.slice(0, 2 * valueCharactersMax);
  if (beginning.includes('\n')) addValue(index, joinedLines(beginning));
}

/** Looks only at the beginning of a value. Most values are in no text. */
function addValue({ last, before, values, words }: Index, value: string): void {
  if (value.length < partLengthMin) {
    if (/[0-9A-Za-z\u0080-\uffff]/.test(value)) words.set(byteText(value), value.length);
    return;
  }
  const slot = slotOf(value);
  const first = last[slot] ?? -1;
  for (let at = first, tries = 0; at !== -1 && tries < doublesSearched; tries += 1) {
    if (values[at] === value) return;
    at = before[at] ?? -1;
  }
  last[slot] = values.length;
  before.push(first);
  values.push(value);
}

function bytesOf({ values, bytes }: Index, place: number): string {
  let text = bytes.get(place);
  if (text === undefined) {
    text = byteText((values[place] ?? '').slice(0, valueCharactersMax));
    bytes.set(place, text);
  }
  return text;
}

function slotOf(value: string): number {
  const code = (at: number): number => value.charCodeAt(at);
  if ((code(0) | code(1) | code(2) | code(3)) < 0x80)
    return hash(code(0), code(1), code(2), code(3));
  // Five units, because the second half of a character may be the fifth.
  const bytes = Buffer.from(value.slice(0, partLengthMin + 1), 'utf8');
  return hash(bytes[0] ?? 0, bytes[1] ?? 0, bytes[2] ?? 0, bytes[3] ?? 0);
}

function hash(a: number, b: number, c: number, d: number): number {
  return Math.imul(a | (b << 8) | (c << 16) | (d << 24), 0x9e3779b1) >>> (32 - hashBits);
}

/** Tells whether an entry is a name that the code contains, and how many steps that took. */
function shownByCode(index: Index, place: number): { isShown: boolean; steps: number } {
  if (place < index.namesFrom) return { isShown: false, steps: 0 };
  const known = index.inCode.get(place);
  if (known !== undefined) return { isShown: known, steps: 0 };
  const isShown = contains(index.code, index.values[place] ?? '');
  index.inCode.set(place, isShown);
  return { isShown, steps: index.code.length / codePerStep };
}

/**
 * Like `includes`, with work for each character and not for each pair of them: whoever chooses both
 * texts would hold up everybody (Knuth, Morris and Pratt).
 */
function contains(text: string, part: string): boolean {
  if (part.length > text.length) return false;
  // The length of the longest beginning of the part that ends before each place of it.
  const shorter = new Int32Array(part.length + 1);
  const lengthen = (length: number, code: number): number => {
    let known = length;
    while (known > 0 && part.charCodeAt(known) !== code) known = shorter[known] ?? 0;
    return part.charCodeAt(known) === code ? known + 1 : 0;
  };
  for (let at = 1; at < part.length; at += 1) {
    shorter[at + 1] = lengthen(shorter[at] ?? 0, part.charCodeAt(at));
  }
  let length = 0;
  for (let at = 0; at < text.length && length < part.length; at += 1) {
    length = lengthen(length, text.charCodeAt(at));
  }
  return length === part.length;
}

// ---- one pass over a view ----

/** Characters that show a value. `value`: the bytes of its beginning, or the whole of a word. */
type OnFound = (from: number, to: number, value: string) => void;

interface Found {
  readonly onFound: OnFound;
  /** Places up to which a value may be cut. */
  readonly cuts: ReadonlySet<number>;
}

const nowhere: ReadonlySet<number> = new Set();

/** Finds known values. Returns the steps it took, and stops above `stepsMax`. */
function* hide(view: View, index: Index, { onFound, cuts }: Found, stepsMax: number): Work<number> {
  const { codes, starts } = view;
  const { last, before } = index;
  let steps = codes.length * stepsPerByte;
  let stepsYielded = 0;
  for (let at = 0; at < codes.length && steps <= stepsMax; at += 1) {
    if (at % placesAtOnce === 0) yield;
    if (view.hasWords && index.words.size > 0) findWord(view, index, at, onFound);
    if (at + partLengthMin > codes.length) continue;
    const slot = hash(codes[at] ?? 0, codes[at + 1] ?? 0, codes[at + 2] ?? 0, codes[at + 3] ?? 0);
    let candidate = last[slot] ?? -1;
    for (; candidate !== -1 && steps <= stepsMax; candidate = before[candidate] ?? -1) {
      const value = bytesOf(index, candidate);
      const length = commonLength(view, at, value);
      steps += 1 + length;
      const end = at + length;
      // A long text was cut, maybe in the middle of a value.
      const mayBeCut = end === codes.length ? view.isOpen : cuts.has(starts[end] ?? 0);
      const isCut = mayBeCut && length >= partLengthMin;
      if (length === value.length || isCut) {
        const inCode = shownByCode(index, candidate);
        steps += inCode.steps;
        if (!inCode.isShown) {
          const [from, to] = rangeOf(view, at, length, isCut ? cuts : nowhere);
          onFound(from, to, value);
        }
      }
      if (steps - stepsYielded > stepsAtOnce) {
        stepsYielded = steps;
        yield;
      }
    }
  }
  yield;
  return steps;
}

function commonLength({ codes }: View, at: number, value: string): number {
  let length = 0;
  while (length < value.length && codes[at + length] === value.charCodeAt(length)) length += 1;
  return length;
}

/** Short values count as whole words, and as they are: an escape in one would be longer. */
function findWord(view: View, { words }: Index, at: number, onFound: OnFound): void {
  if (!view.isBoundary(at - 1)) return;
  let word = '';
  for (let length = 1; length <= wordBytesMax && at + length <= view.codes.length; length += 1) {
    const end = at + length;
    word += String.fromCharCode(view.codes[end - 1] ?? 0);
    if (!words.has(word) || !view.isBoundary(end)) continue;
    const [from, to] = [view.starts[at] ?? 0, view.ends[end - 1] ?? 0];
    if (to - from === words.get(word)) onFound(from, to, word);
  }
}

/** The characters of a value; of a cut one with the half of a letter or an escape that follows it. */
function rangeOf(
  view: View,
  at: number,
  length: number,
  cuts: ReadonlySet<number>,
): [from: number, to: number] {
  const end = at + length;
  let to = view.ends[end - 1] ?? Infinity;
  if (end === view.codes.length && view.isOpen) to = Infinity;
  while (cuts.has(to + 1)) to += 1;
  return [view.starts[at] ?? 0, to];
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
