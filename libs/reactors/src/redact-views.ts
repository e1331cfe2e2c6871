/** Shorter values are redacted as whole words only. Elsewhere they would blacken ordinary text. */
export const partLengthMin = 4;

/**
 * The bytes that a text may encode, each with its place in the text. Values are searched for in
 * these bytes, not encoded in every possible form: a text is short, values are many.
 */
export class View {
  /** Bytes, with a `gap` between parts that do not belong together. */
  readonly codes: number[] = [];
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  /** The last byte is at the end of the text, so that a cut may follow it. */
  isOpen = true;

  /** `hasWords`: false where the bytes are not those of the text itself. */
  constructor(readonly hasWords = true) {}

  add(code: number, start: number, end: number): void {
    this.codes.push(code);
    this.starts.push(start);
    this.ends.push(end);
  }

  /** Tells whether a word may end before this place or begin behind it. */
  isBoundary(at: number): boolean {
    const code = this.codes[at];
    return code === undefined || !isWordCode(code);
  }
}

const gap = 0x100;

/** UTF-8 with one character per byte, to be compared with the codes of a view. */
export function byteText(text: string): string {
  return /[\u0080-\uffff]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** Yields the views one by one: a caller that has seen enough does not pay for the rest. */
export function* viewsOf(lines: readonly string[]): Generator<View> {
  const text = lines.join('\n');
  for (const view of readingsOf(text)) {
    yield view;
    const joined = has(view, '\n') ? withoutBreaks(view) : view;
    if (joined !== view) yield joined;
    for (const offset of [0, 1, 2, 3]) yield base64Decoded(joined, offset);
    for (const offset of [0, 1]) yield hexDecoded(joined, offset);
  }
  if (text.includes('\n ')) yield* unindented(plainView(text), lines);
  yield* printedBuffers(text);
}

/** The text as it is, and with its escapes read. */
function* readingsOf(text: string): Generator<View> {
  const plain = plainView(text);
  yield* unescapedTwice(plain);
  if (has(plain, '%') || has(plain, '+')) yield* unescapedTwice(percentDecoded(plain, true));
  if (has(plain, '%') && has(plain, '+')) yield* unescapedTwice(percentDecoded(plain, false));
}

/** JSON within JSON is escaped twice. */
function* unescapedTwice(view: View): Generator<View> {
  yield view;
  if (!has(view, '\\')) return;
  const once = unescaped(view);
  yield once;
  if (has(once, '\\')) yield unescaped(once);
}

const has = ({ codes }: View, character: string): boolean =>
  codes.includes(character.charCodeAt(0));

function plainView(text: string): View {
  const view = new View();
  let at = 0;
  for (const character of text) {
    const end = at + character.length;
    // A cut may have left half of the last character.
    const isHalf = end === text.length && /^[\ud800-\udbff]$/.test(character);
    if (!isHalf)
      for (const byte of utf8(character.codePointAt(0) ?? 0, 1).bytes) view.add(byte, at, end);
    at = end;
  }
  return view;
}

// ---- escapes ----

function percentDecoded(from: View, plusIsSpace: boolean): View {
  return decoded(from, (codes, at) => {
    if (plusIsSpace && codes[at] === 0x2b) return { bytes: [0x20], length: 1 };
    if (codes[at] !== 0x25) return undefined;
    return hexEscape(codes, at + 1, 2, (value) => ({ bytes: [value], length: 3 }));
  });
}

const namedEscapes = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' }).map(
    ([name, character]) => [name.charCodeAt(0), character.charCodeAt(0)],
  ),
);

/** Reads the escapes of JSON and JavaScript, and joins what Node shows in parts. */
function unescaped(from: View): View {
  return decoded(from, (codes, at) => {
    if (codes[at] !== 0x5c) return jointOf(codes, at);
    const name = codes[at + 1];
    if (name === undefined) return 'cut';
    if (name === 0x78) return hexEscape(codes, at + 2, 2, (value) => utf8(value, 4));
    if (name !== 0x75) return { bytes: [namedEscapes.get(name) ?? name], length: 2 };
    return hexEscape(codes, at + 2, 4, (unit) => {
      if ((unit & 0xfc00) !== 0xd800) return utf8(unit, 6);
      if (codes.length - at <= 6) return 'cut';
      if (codes[at + 6] !== 0x5c || codes[at + 7] !== 0x75) return utf8(unit, 6);
      return hexEscape(codes, at + 8, 4, (low) =>
        utf8(0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff), 12),
      );
    });
  });
}

/** The place of the next code that is no space. */
function behindSpaces(codes: readonly number[], from: number): number {
  let at = from;
  while (codes[at] === 0x20) at += 1;
  return at;
}

const isQuote = (code: number | undefined): boolean =>
  code === 0x22 || code === 0x27 || code === 0x60;

/** Node shows a text of several lines as several, joined by `' +`, a line break and an indent. */
function jointOf(codes: readonly number[], at: number): ReadEscape {
  if (!isQuote(codes[at])) return undefined;
  let end = at + 1;
  for (const expected of [0x20, 0x2b, 0x0a]) {
    if (end === codes.length) return 'cut';
    if (codes[end] !== expected) return undefined;
    end += 1;
  }
  end = behindSpaces(codes, end);
  if (end === codes.length) return 'cut';
  return isQuote(codes[end]) ? { bytes: [], length: end + 1 - at } : undefined;
}

// ---- line breaks and indents ----

/** A text as `withoutBreaks` reads it. */
export const joinedLines = (text: string): string => text.replace(/\r?\n */g, '');

/** Joins what is wrapped over lines, without the indents of the lines. */
function withoutBreaks(from: View): View {
  const breakAt = (codes: readonly number[], at: number): ReadEscape => {
    const end = codes[at] === 0x0d && codes[at + 1] === 0x0a ? at + 2 : at + 1;
    if (codes[end - 1] !== 0x0a) return undefined;
    return { bytes: [], length: behindSpaces(codes, end) - at };
  };
  return decoded(from, breakAt, new View(false));
}

/** A group indents each line of a text as its first one, an object each line of an error. */
function* unindented(plain: View, lines: readonly string[]): Generator<View> {
  yield withoutIndents(plain, () => Infinity);
  if (!lines.some((line) => line.startsWith(' '))) return;
  const indents = indentsOf(lines);
  yield withoutIndents(plain, (place) => indents.get(place) ?? 0);
}

/** The indent of the first line of each text, by the places of the line breaks in it and behind it. */
function indentsOf(lines: readonly string[]): ReadonlyMap<number, number> {
  const indents = new Map<number, number>();
  let begin = 0;
  for (const line of lines) {
    const indent = line.search(/[^ ]|$/);
    for (let at = line.indexOf('\n'); at !== -1; at = line.indexOf('\n', at + 1)) {
      indents.set(begin + at, indent);
    }
    begin += line.length + 1;
    indents.set(begin - 1, indent);
  }
  return indents;
}

/** Leaves out spaces behind line breaks: so many as it is told for the place of the break. */
function withoutIndents(from: View, indentBehind: (place: number) => number): View {
  return decoded(from, (codes, at) => {
    if (codes[at] !== 0x0a) return undefined;
    const indent = indentBehind(from.starts[at] ?? 0);
    const end = Math.min(behindSpaces(codes, at + 1), at + 1 + indent);
    return { bytes: [0x0a], length: end - at };
  });
}

interface Escape {
  readonly bytes: Iterable<number>;
  readonly length: number;
}
/** `cut`: the text ends within the escape. */
type ReadEscape = Escape | 'cut' | undefined;

const utf8 = (codePoint: number, length: number): Escape => ({
  bytes: codePoint < 0x80 ? [codePoint] : Buffer.from(String.fromCodePoint(codePoint), 'utf8'),
  length,
});

function hexEscape(
  codes: readonly number[],
  at: number,
  digits: number,
  read: (value: number) => ReadEscape,
): ReadEscape {
  let value = 0;
  for (let digit = at; digit < at + digits; digit += 1) {
    const code = codes[digit];
    if (code === undefined) return 'cut';
    const nibble = hexValues[code] ?? -1;
    if (nibble === -1) return undefined;
    value = value * 16 + nibble;
  }
  return read(value);
}

function decoded(
  from: View,
  escapeAt: (codes: readonly number[], at: number) => ReadEscape,
  view = new View(),
): View {
  const { codes, starts, ends } = from;
  const start = (at: number): number => starts[at] ?? 0;
  for (let at = 0; at < codes.length;) {
    const escape = escapeAt(codes, at);
    if (escape === 'cut') return view;
    const length = escape?.length ?? 1;
    const end = ends[at + length - 1] ?? start(at);
    if (escape === undefined) view.add(codes[at] ?? gap, start(at), end);
    else for (const byte of escape.bytes) view.add(byte, start(at), end);
    at += length;
  }
  return view;
}

// ---- base64 and hex: every run of their letters may be an encoding ----

const valuesOf = (...alphabets: string[]): Int8Array => {
  const values = new Int8Array(gap + 1).fill(-1);
  for (const letters of alphabets) {
    [...letters].forEach((letter, value) => (values[letter.charCodeAt(0)] = value));
  }
  return values;
};
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const base64Values = valuesOf(`${letters}+/`, `${letters}-_`);
const hexValues = valuesOf('0123456789abcdef', '0123456789ABCDEF');

const base64Decoded = (from: View, offset: number): View =>
  runsDecoded(from, offset, base64Values, 6);
const hexDecoded = (from: View, offset: number): View => runsDecoded(from, offset, hexValues, 4);

/** Decodes each run of letters from this offset on. Runs that are too short for a value are left out. */
function runsDecoded(from: View, offset: number, values: Int8Array, bitsPerLetter: number): View {
  const { codes, starts, isOpen } = from;
  const view = new View(false);
  view.isOpen = false;
  for (let at = 0; at < codes.length; at += 1) {
    const end = endOfRun(codes, at, values);
    if ((end - at - offset) * bitsPerLetter >= 8 * partLengthMin) {
      decodeRun(from, at + offset, end, { values, bitsPerLetter, into: view });
      if (end === codes.length) view.isOpen = isOpen;
      else view.add(gap, starts[end] ?? 0, starts[end] ?? 0);
    }
    at = end;
  }
  return view;
}

function endOfRun(codes: readonly number[], from: number, values: Int8Array): number {
  let at = from;
  while (at < codes.length && (values[codes[at] ?? gap] ?? -1) !== -1) at += 1;
  return at;
}

function decodeRun(
  { codes, starts, ends }: View,
  from: number,
  to: number,
  {
    values,
    bitsPerLetter,
    into,
  }: { readonly values: Int8Array; readonly bitsPerLetter: number; readonly into: View },
): void {
  let bits = 0;
  let kept = 0;
  let first = from;
  for (let at = from; at < to; at += 1) {
    bits = ((bits << bitsPerLetter) | (values[codes[at] ?? gap] ?? 0)) & 0xffff;
    kept += bitsPerLetter;
    if (kept < 8) continue;
    kept -= 8;
    into.add((bits >> kept) & 0xff, starts[first] ?? 0, ends[at] ?? 0);
    // The remaining bits of this letter belong to the next byte.
    first = kept > 0 ? at : at + 1;
  }
}

// ---- bytes as console writes them ----

/** A Buffer is `<Buffer 34 32>`, of a long one the first 50 bytes. An ArrayBuffer has `<34 32>`. */
function* printedBuffers(text: string): Generator<View> {
  for (const { 0: printed, index } of text.matchAll(
    /(?<=<(?:Buffer )?)[\da-f]{2}(?: [\da-f]{2})*/g,
  )) {
    const view = new View(false);
    for (let at = 0; at < printed.length; at += 3) {
      view.add(parseInt(printed.slice(at, at + 2), 16), index + at, index + at + 2);
    }
    view.isOpen = text[index + printed.length] !== '>';
    yield view;
  }
}

// ---- where a string was cut ----

/** The end of a string that Node.js cut: `'abc'... 12 more characters`. */
const cutByNode = /["'`](?=\.\.\. \d+ more characters?)/g;
/** Half of an escape may stand before a cut: none is longer. */
const escapeCharacters = 16;

/** The places in a text up to which a value may be cut. */
export function cutsIn(text: string): ReadonlySet<number> {
  const cuts = new Set<number>();
  for (const { index } of text.matchAll(cutByNode)) {
    for (let before = 0; before < escapeCharacters; before += 1) cuts.add(index - before);
  }
  return cuts;
}

/** Letters, digits, `_`, and every byte of a character beyond ASCII. */
function isWordCode(code: number): boolean {
  return (
    code > 0x7f ||
    code === 0x5f ||
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a)
  );
}
