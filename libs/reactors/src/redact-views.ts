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

  /** `exact`: only a short value that is the whole encoded text counts. */
  constructor(private readonly wordsAre: 'in text' | 'exact' | 'none' = 'in text') {}

  add(code: number, start: number, end: number): void {
    this.codes.push(code);
    this.starts.push(start);
    this.ends.push(end);
  }

  /** Tells whether a word may end before this place or begin behind it. */
  isBoundary(at: number): boolean {
    const code = this.codes[at];
    if (code === undefined || code === gap) return this.wordsAre !== 'none';
    return this.wordsAre === 'in text' && !isWordCode(code);
  }
}

const gap = 0x100;

/** UTF-8 with one character per byte, to be compared with the codes of a view. */
export function byteText(text: string): string {
  return /[\u0080-\uffff]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** Yields the views one by one: a caller that has seen enough does not pay for the rest. */
export function* viewsOf(text: string): Generator<View> {
  const plain = plainView(text);
  const has = (view: View, character: string): boolean =>
    view.codes.includes(character.charCodeAt(0));
  const readings = [plain];
  if (has(plain, '%') || has(plain, '+')) readings.push(percentDecoded(plain, true));
  if (has(plain, '%') && has(plain, '+')) readings.push(percentDecoded(plain, false));
  // JSON within JSON is escaped twice.
  for (const view of readings.filter((one) => has(one, '\\'))) {
    const once = unescaped(view);
    readings.push(once, ...(has(once, '\\') ? [unescaped(once)] : []));
  }
  for (const indent of indentsOf(text)) readings.push(unindented(plain, indent));
  for (const view of readings) {
    yield view;
    for (const offset of [0, 1, 2, 3]) yield base64Decoded(view, offset);
    for (const offset of [0, 1]) yield hexDecoded(view, offset);
  }
  yield* printedBuffers(text);
}

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

// ---- indents ----

/** A group indents each line of a text as its first one, an object each line of an error. */
function indentsOf(text: string): readonly number[] {
  if (!text.includes('\n ')) return [];
  return text.startsWith(' ') ? [text.search(/[^ ]|$/), Infinity] : [Infinity];
}

/** Leaves out so many spaces behind each line break. */
function unindented(from: View, indent: number): View {
  return decoded(from, (codes, at) => {
    if (codes[at] !== 0x0a) return undefined;
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

function decoded(from: View, escapeAt: (codes: readonly number[], at: number) => ReadEscape): View {
  const view = new View();
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

/** Short values are found only where the encoding begins with its run of letters. */
const base64Decoded = (from: View, offset: number): View =>
  runsDecoded(from, offset, base64Values, 6, offset === 0 ? 'exact' : 'none');
const hexDecoded = (from: View, offset: number): View =>
  runsDecoded(from, offset, hexValues, 4, 'none');

function runsDecoded(
  { codes, starts, ends, isOpen }: View,
  offset: number,
  values: Int8Array,
  bitsPerLetter: number,
  wordsAre: 'exact' | 'none',
): View {
  const view = new View(wordsAre);
  view.isOpen = false;
  for (let at = 0; at < codes.length; at += 1) {
    if ((values[codes[at] ?? gap] ?? -1) === -1) continue;
    let bits = 0;
    let kept = 0;
    let first = at + offset;
    let letter = at;
    for (; letter < codes.length; letter += 1) {
      const value = values[codes[letter] ?? gap] ?? -1;
      if (value === -1) break;
      if (letter < at + offset) continue;
      bits = ((bits << bitsPerLetter) | value) & 0xffff;
      kept += bitsPerLetter;
      if (kept < 8) continue;
      kept -= 8;
      view.add((bits >> kept) & 0xff, starts[first] ?? 0, ends[letter] ?? 0);
      // The remaining bits of this letter belong to the next byte.
      first = kept > 0 ? letter : letter + 1;
    }
    at = letter;
    if (letter === codes.length) view.isOpen = isOpen;
    else view.add(gap, starts[letter] ?? 0, starts[letter] ?? 0);
  }
  return view;
}

// ---- bytes as console writes them ----

/** A Buffer is `<Buffer 34 32>`, of a long one the first 50 bytes. An ArrayBuffer has `<34 32>`. */
function* printedBuffers(text: string): Generator<View> {
  for (const { 0: printed, index } of text.matchAll(
    /(?<=<(?:Buffer )?)[\da-f]{2}(?: [\da-f]{2})*/g,
  )) {
    const view = new View('exact');
    for (let at = 0; at < printed.length; at += 3) {
      view.add(parseInt(printed.slice(at, at + 2), 16), index + at, index + at + 2);
    }
    view.isOpen = text[index + printed.length] !== '>';
    yield view;
  }
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
