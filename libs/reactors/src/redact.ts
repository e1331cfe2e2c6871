import type { Work } from '@glovebox/expressions';
import { byteText, viewsOf, type View } from './redact-views';

/** For texts of at most 1,000 characters, as `cutThrownText` leaves them: the work is bounded by it. */
export type Redact = (text: string) => Work<string>;

/** Arguments hold at most 100,000 values; those that came from tokens are known twice. */
export const knownValuesMax = 250_000;
/** What the redaction of all texts of one run may cost: about 200 ms at worst, in slices. */
const redactionStepsMax = 4_000_000;
/** Of a longer value, this much is looked for; a text that is shown is shorter. */
const valueCharactersMax = 1_000;
/** Shorter values are blacked out as whole words: anywhere else they would blacken what is said. */
const partLengthMin = 4;
/** To make a byte of a view, and to look it up, beside comparing what begins alike. */
const stepsPerByte = 8;
/** Between two points where others may be served. */
const stepsAtOnce = 50_000;
/** As UTF-8. */
const wordBytesMax = 3 * (partLengthMin - 1);
const redacted = '[redacted]';

/**
 * Blacks out, in a text for others, every value that the run knew: data of tokens, arguments,
 * configuration; as it is, JSON-escaped, percent-encoded, in base64 or in hex. Shows nothing of a
 * text that would take too much work. `true`, `false` and `null` are no secrets.
 */
/** `opened`: what the code has got by itself; undefined where that is too much to be known. */
export function redactorOf(
  known: readonly unknown[],
  opened: readonly unknown[] | undefined = [],
): Redact {
  let index: Index | 'too many' | undefined;
  let stepsLeft = redactionStepsMax;
  return function* (text) {
    // Most runs throw nothing: the index is made for the first text.
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

// ---- what is known, found by how it begins ----

interface Index {
  /** Values by a hash of their first four bytes: the last one, and for each the one before. */
  readonly last: Int32Array;
  readonly before: number[];
  readonly values: string[];
  /** Of values that begin as something in a text does: their bytes, by their place. */
  readonly bytes: Map<number, string>;
  readonly words: Set<string>;
}

const hashBits = 16;
/** How far back a value is looked for among those that begin alike, to keep it once only. */
const doublesSearched = 8;
/** Values that are added to the index between two points where others may be served. */
const valuesAtOnce = 1_000;

function* indexOf(known: readonly unknown[]): Work<Index | 'too many'> {
  const index: Index = {
    last: new Int32Array(1 << hashBits).fill(-1),
    before: [],
    values: [],
    bytes: new Map(),
    words: new Set(),
  };
  // A list is gone through where it is: to copy a large one would take a slice too long.
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

/** No more is done for a value than to look at how it begins: most of them are in no text. */
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
  // One more than four: the second half of a character may be the fifth.
  const bytes = Buffer.from(value.slice(0, partLengthMin + 1), 'utf8');
  return hash(bytes[0] ?? 0, bytes[1] ?? 0, bytes[2] ?? 0, bytes[3] ?? 0);
}

function hash(a: number, b: number, c: number, d: number): number {
  return Math.imul(a | (b << 8) | (c << 16) | (d << 24), 0x9e3779b1) >>> (32 - hashBits);
}

// ---- one pass over a view ----

/** Marks what is known in `hidden`, and tells what that took; it stops once that is above `stepsMax`. */
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
      // Long texts come cut off, and the cut may have gone through a value.
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
