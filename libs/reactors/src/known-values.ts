import type { Work } from '@glovebox/expressions';
import { byteText, cutsIn, joinedLines, partLengthMin, viewsOf, type View } from './redact-views';

/**
 * Arguments hold at most 100,000 values; those that came from tokens are known twice, and have
 * names.
 */
export const knownValuesMax = 350_000;
/** Only the beginning of a longer value is searched for. No text is longer, with its line breaks. */
export const valueCharactersMax = 66 * 1024;
/** Shorter names of members are ordinary words. */
export const nameLengthMin = 7;
/** The cost of making a byte of a view and looking it up. Comparing values comes on top. */
const stepsPerByte = 8;
/** The characters of code that are searched for a name in one step. */
const codePerStep = 4;
/** The work between two points where others may be served. */
const stepsAtOnce = 50_000;
const placesAtOnce = 4_096;
/** The longest short word in UTF-8. */
const wordBytesMax = 3 * (partLengthMin - 1);
const hashBits = 16;
/** A value is compared with so many of the same hash, to keep it only once. */
const doublesSearched = 8;
/** Values added to the index between two points where others may be served. */
export const valuesAtOnce = 1_000;

/** Known values by their first bytes. */
export interface Index {
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

export const emptyIndex = (code: string): Index => ({
  last: new Int32Array(1 << hashBits).fill(-1),
  before: [],
  values: [],
  bytes: new Map(),
  words: new Map(),
  namesFrom: Infinity,
  inCode: new Map(),
  code,
});

/** Adds every value within these, and calls `onName` with each name. Returns how many are left. */
export function* addValues(
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

export function addScalar(index: Index, value: unknown): void {
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
export function addValue({ last, before, values, words }: Index, value: string): void {
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

/** Characters that show a value. `value`: the bytes of its beginning, or the whole of a word. */
export type OnFound = (from: number, to: number, value: string) => void;

/** Looks for known values in every view. Returns the steps it took, at least `stepsMax` if too many. */
export function* look(
  lines: readonly string[],
  index: Index,
  onFound: OnFound,
  stepsMax: number,
): Work<number> {
  let steps = 0;
  const cuts = cutsIn(lines.join('\n'));
  for (const view of viewsOf(lines)) {
    if (steps < stepsMax) steps += yield* search(view, index, { onFound, cuts }, stepsMax - steps);
    if (steps >= stepsMax) break;
  }
  return steps;
}

interface Found {
  readonly onFound: OnFound;
  /** Places up to which a value may be cut. */
  readonly cuts: ReadonlySet<number>;
}

const nowhere: ReadonlySet<number> = new Set();

/** Finds known values. Returns the steps it took, and stops above `stepsMax`. */
function* search(
  view: View,
  index: Index,
  { onFound, cuts }: Found,
  stepsMax: number,
): Work<number> {
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

/** Texts that stand one below the other, with a line break between two. */
export const charactersOf = (lines: readonly string[]): number =>
  lines.reduce((sum, { length }) => sum + length, Math.max(lines.length - 1, 0));

export function eachLine<Shown>(
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
