import type { Work } from '@glovebox/expressions';

/**
 * The forms in which a destination may write a text that it was sent: as it is, in strings of JSON,
 * percent-encoded, escaped in HTML, and within base 64 (docs/adr/0151). Most texts have one form of
 * the first four.
 */
export function* formsOf(text: string): Work<Buffer[]> {
  const bytes = Buffer.from(text, 'utf8');
  const forms: Buffer[] = [bytes];
  for (const form of formsWithCopies(text, bytes)) {
    if (!forms.some((other) => other.equals(form))) forms.push(form);
    yield;
  }
  return forms;
}

function* formsWithCopies(text: string, bytes: Buffer): Generator<Buffer> {
  yield* jsonForms(text);
  yield* percentForms(bytes);
  yield* htmlForms(text);
  yield* base64Forms(bytes);
}

/** Escaped as JavaScript, Go, Gson, Python, Java, .NET and PHP write it. */
function* jsonForms(text: string): Generator<Buffer> {
  const plain = JSON.stringify(text).slice(1, -1);
  if (plain === text && !unlikeInJson.test(text)) return;
  for (const form of escapedForms(plain)) {
    yield Buffer.from(form);
    if (form.includes('/')) yield Buffer.from(form.replaceAll('/', '\\/'));
  }
}

const unlikeInJson = /[/<>&='+`]|[^\0-\x7e]/;

function* escapedForms(plain: string): Generator<string> {
  yield plain;
  yield withEscapes(plain, '<>&\u2028\u2029');
  yield withEscapes(plain, "<>&='\u2028\u2029");
  yield asciiOnly(plain, '', lowerDigits);
  yield asciiOnly(plain, '', upperDigits);
  yield asciiOnly(plain.replaceAll('\\"', '\\u0022'), "<>&'+`", upperDigits);
}

function withEscapes(text: string, characters: string): string {
  let made = text;
  for (const character of characters) {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    made = made.replaceAll(character, `\\u${code}`);
  }
  return made;
}

const upperDigits = Buffer.from('0123456789ABCDEF');
const lowerDigits = Buffer.from('0123456789abcdef');
const backslash = 0x5c;
const letterU = 0x75;
const del = 0x7f;

/** Hot path: a loop, where a pattern would call back for each character. */
function asciiOnly(text: string, escaped: string, digits: Buffer): string {
  const made = Buffer.allocUnsafe(6 * text.length);
  const isEscaped = bytesIn(escaped);
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < del && isEscaped[unit] === 0) made[end++] = unit;
    else {
      made[end++] = backslash;
      made[end++] = letterU;
      for (let shift = 12; shift >= 0; shift -= 4) made[end++] = digits[(unit >> shift) & 15] ?? 0;
    }
  }
  return made.toString('latin1', 0, end);
}

/** By byte: 1 for those of the text. */
function bytesIn(text: string): Uint8Array {
  const found = new Uint8Array(256);
  for (const byte of Buffer.from(text)) found[byte] = 1;
  return found;
}

/** How a writer percent-encodes: what it leaves as it is, and what it writes for a space. */
interface PercentWriter {
  /** By byte: 1 where it stays. */
  readonly kept: Uint8Array;
  readonly space: '%20' | '+';
}

const percentWriter = (
  characters: string,
  space: PercentWriter['space'] = '%20',
): PercentWriter => ({ kept: bytesIn(characters), space });

const wordCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';

/** Names say whose rule it is. Other writers follow one of these. */
const percentWriters: readonly PercentWriter[] = [
  ...[
    '~', // RFC 3986, where nothing is reserved
    '~/', // quote of Python
    "!'()*~", // encodeURIComponent
    "!#$&'()*+,/:;=?@~", // encodeURI
    "!$&'()*+,:;=@~", // segments of paths in RFC 3986
    "!$&'()*+,/:;=@~", // its paths
    "!$&'()*+,/:;=?@~", // its queries
    '$&+:=@~', // PathEscape of Go
    '$&+,/:;=@~', // paths of Go
    "!$%&'()*+,/:;=@[]|~", // paths of browsers
    "!$%&'()*+,/:;=@[]^|~", // paths of older ones
    '!$%&()*+,/:;=?@[\\]^`{|}~', // their queries
    "!#$%&'()*+,/:;=?@[\\]^{|}~", // their fragments
  ].map((kept) => percentWriter(wordCharacters + kept)),
  ...[
    '*', // forms of browsers and Java
    '~', // quote_plus of Python, QueryEscape of Go
    '', // urlencode of PHP
  ].map((kept) => percentWriter(wordCharacters + kept, '+')),
];

/** In the spellings of common writers, with digits in both cases. */
function* percentForms(bytes: Buffer): Generator<Buffer> {
  const signs = [...new Set(bytes)].filter((byte) => isWord[byte] === 0);
  for (const writer of [everyByte, ...unlikeFor(signs)]) {
    yield percentEncoded(bytes, writer, upperDigits);
    yield percentEncoded(bytes, writer, lowerDigits);
  }
}

const everyByte = percentWriter('');
const isWord = bytesIn(wordCharacters);

/** One of the writers that write these bytes alike. A key has few signs, and a call is in a hurry. */
function unlikeFor(signs: readonly number[]): Iterable<PercentWriter> {
  const unlike = new Map<string, PercentWriter>();
  for (const writer of signs.length > 0 ? percentWriters : []) {
    const space = signs.includes(blank) ? writer.space : '';
    const written = signs.map((byte) => writer.kept[byte]).join('') + space;
    if (!unlike.has(written)) unlike.set(written, writer);
  }
  return unlike.values();
}

const percent = 0x25;
const plus = 0x2b;
const blank = 0x20;

/** Hot path: a loop over bytes, where a pattern would call back for each. */
function percentEncoded(bytes: Buffer, { kept, space }: PercentWriter, digits: Buffer): Buffer {
  const made = Buffer.allocUnsafe(3 * bytes.length);
  let end = 0;
  for (const byte of bytes) {
    if (kept[byte] === 1) made[end++] = byte;
    else if (byte === blank && space === '+') made[end++] = plus;
    else {
      made[end++] = percent;
      made[end++] = digits[byte >> 4] ?? 0;
      made[end++] = digits[byte & 15] ?? 0;
    }
  }
  return Buffer.from(made.subarray(0, end));
}

/** Quotes stay as they are in the text of an element. In attributes each library writes its own. */
const htmlQuotes = [
  ['"', "'"],
  ['&quot;', "'"],
  ['&quot;', '&#39;'],
  ['&quot;', '&#039;'],
  ['&quot;', '&#x27;'],
  ['&quot;', '&apos;'],
  ['&#34;', '&#39;'],
] as const;

function* htmlForms(text: string): Generator<Buffer> {
  if (!/[&<>"']/.test(text)) return;
  const plain = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  for (const [double, single] of htmlQuotes) {
    yield Buffer.from(plain.replaceAll('"', double).replaceAll("'", single));
  }
}

/** What stays the same of a text within a longer one, wherever its bytes begin in a group of three. */
function* base64Forms(bytes: Buffer): Generator<Buffer> {
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const from = Math.ceil((8 * before) / 6);
    const form = encoded.slice(from, Math.floor((8 * (before + bytes.length)) / 6));
    yield Buffer.from(form);
    if (/[+/]/.test(form)) yield Buffer.from(form.replaceAll('+', '-').replaceAll('/', '_'));
  }
}
