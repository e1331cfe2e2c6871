import type { Work } from '@glovebox/expressions';
import { byteText, viewsOf, type View } from './redact-views';

/** Takes texts of at most 64 KB: what code throws, and the lines of its log. */
export type Redact = (text: string) => Work<string>;

/** Arguments hold at most 100,000 values; those that came from tokens are known twice. */
export const knownValuesMax = 250_000;
/** The cost of redacting what one run threw: about 200 ms at worst, in slices. */
const redactionStepsMax = 4_000_000;
/** Only the beginning of a longer value is searched for. No text is longer. */
const valueCharactersMax = 64 * 1024;
/** Shorter values are redacted as whole words only. Elsewhere they would blacken ordinary text. */
const partLengthMin = 4;
/** The cost of making a byte of a view and looking it up. Comparing values comes on top. */
const stepsPerByte = 8;
/** The work between two points where others may be served. */
const stepsAtOnce = 50_000;
/** The longest short word in UTF-8. */
const wordBytesMax = 3 * (partLengthMin - 1);
export const redacted = '[redacted]';

/**
 * Redacts every value that the run knew in a text: data of tokens, arguments, configuration. Finds
 * a value as it is, JSON-escaped, percent-encoded, in base64, in hex and in a printed Buffer. Shows
 * nothing of a text that would take too much work. `true`, `false` and `null` are no secrets.
 * `opened` is the data that the code opened itself; undefined where that was too much to remember.
 */
export function redactorOf(
  known: readonly unknown[],
  opened: readonly unknown[] | undefined,
  stepsMax = redactionStepsMax,
): Redact {
  let index: Index | 'too many' | undefined;
  let stepsLeft = stepsMax;
  return function* (text) {
    // Most runs throw nothing, so the index is made for the first text.
    index ??= opened ? yield* indexOf([known, opened]) : 'too many';
    if (index === 'too many') return redacted;
    const hidden = new Uint8Array(text.length);
    for (const view of viewsOf(text)) {
      if (stepsLeft <= 0) return redacted;
      stepsLeft -= yield* hide(view, index, hidden, stepsLeft);
    }
    return stepsLeft <= 0 ? redacted : withoutHidden(text, hidden);
  };
}

// ---- the index of known values, by their first bytes ----

interface Index {
  /** The last value of each hash of four first bytes; `before` has the value before each. */
  readonly last: Int32Array;
  readonly before: number[];
  readonly values: string[];
  /** The bytes of values whose beginning was met in a text, by their place. */
  readonly bytes: Map<number, string>;
  readonly words: Set<string>;
}

const hashBits = 16;
/** A value is compared with so many of the same hash, to keep it only once. */
const doublesSearched = 8;
/** Values added to the index between two points where others may be served. */
const valuesAtOnce = 1_000;

function* indexOf(known: readonly unknown[]): Work<Index | 'too many'> {
  const index: Index = {
    last: new Int32Array(1 << hashBits).fill(-1),
    before: [],
    values: [],
    bytes: new Map(),
    words: new Set(),
  };
  // Lists are walked in place: copying a large one would make a slice too long.
  const open: Iterator<unknown>[] = [known.values()];
  let count = 0;
  for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
    const next = inner.next();
    if (next.done) {
      open.pop();
      continue;
    }
    const value = next.value;
    count += 1;
    if (count > knownValuesMax) return 'too many';
    if (count % valuesAtOnce === 0) yield;
    if (typeof value === 'string') addValue(index, value);
    else if (typeof value === 'number') addValue(index, String(value));
    else if (Array.isArray(value)) {
      if (count + value.length > knownValuesMax) return 'too many';
      open.push(value.values());
    } else if (typeof value === 'object' && value !== null)
      open.push(Object.values(value).values());
  }
  return index;
}

/** Looks only at the beginning of a value. Most values are in no text. */
function addValue({ last, before, values, words }: Index, value: string): void {
  if (value.length < partLengthMin) {
    if (/[0-9A-Za-z\u0080-\uffff]/.test(value)) words.add(byteText(value));
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

// ---- one pass over a view ----

/** Marks known values in `hidden`. Returns the steps it took, and stops above `stepsMax`. */
function* hide(view: View, index: Index, hidden: Uint8Array, stepsMax: number): Work<number> {
  const { codes } = view;
  const { last, before } = index;
  let steps = codes.length * stepsPerByte;
  let stepsYielded = 0;
  for (let at = 0; at < codes.length && steps <= stepsMax; at += 1) {
    if (index.words.size > 0) hideWord(view, index, at, hidden);
    if (at + partLengthMin > codes.length) continue;
    const slot = hash(codes[at] ?? 0, codes[at + 1] ?? 0, codes[at + 2] ?? 0, codes[at + 3] ?? 0);
    let candidate = last[slot] ?? -1;
    for (; candidate !== -1 && steps <= stepsMax; candidate = before[candidate] ?? -1) {
      const value = bytesOf(index, candidate);
      const length = commonLength(view, at, value);
      steps += 1 + length;
      // A long text was cut, maybe in the middle of a value.
      const isCut = view.isOpen && at + length === codes.length && length >= partLengthMin;
      if (length === value.length || isCut) mark(view, at, length, hidden);
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

function hideWord(view: View, { words }: Index, at: number, hidden: Uint8Array): void {
  if (!view.isBoundary(at - 1)) return;
  let word = '';
  for (let length = 1; length <= wordBytesMax && at + length <= view.codes.length; length += 1) {
    word += String.fromCharCode(view.codes[at + length - 1] ?? 0);
    if (words.has(word) && view.isBoundary(at + length)) mark(view, at, length, hidden);
  }
}

function mark(view: View, at: number, length: number, hidden: Uint8Array): void {
  const isToTheEnd = view.isOpen && at + length === view.codes.length;
  hidden.fill(1, view.starts[at], isToTheEnd ? hidden.length : view.ends[at + length - 1]);
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
