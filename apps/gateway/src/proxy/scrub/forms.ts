/**
 * The forms in which a destination may write a text that it was sent: as it is, in strings of JSON,
 * percent-encoded, escaped in HTML, and within base 64 (docs/adr/0151). Most texts have one form of
 * the first four.
 */
export function formsOf(text: string): Buffer[] {
  const bytes = Buffer.from(text, 'utf8');
  const texts = new Set([text, ...jsonForms(text), ...htmlForms(text)]);
  const forms: Buffer[] = [...texts].map((form) => Buffer.from(form, 'utf8'));
  for (const form of percentForms(bytes)) {
    if (!forms.some((other) => other.equals(form))) forms.push(form);
  }
  return [...forms, ...base64Forms(bytes)];
}

/** Escaped as JavaScript, Go, Gson, Python, Java, .NET and PHP write it. */
function* jsonForms(text: string): Generator<string> {
  const plain = JSON.stringify(text).slice(1, -1);
  if (plain === text && !unlikeInJson.test(text)) return;
  const forms = [
    plain,
    escaped(plain, /[<>&\u2028\u2029]/g, lowerHex),
    escaped(plain, /[<>&='\u2028\u2029]/g, lowerHex),
    escaped(plain, /[^\0-\x7e]/g, lowerHex),
    escaped(plain, /[^\0-\x7e]/g, upperHex),
    escaped(plain.replaceAll('\\"', '\\u0022'), /[<>&'+`]|[^\0-\x7e]/g, upperHex),
  ];
  for (const form of forms) yield* [form, form.replaceAll('/', '\\/')];
}

const unlikeInJson = /[/<>&='+`]|[^\0-\x7e]/;

const escaped = (text: string, characters: RegExp, hexOf: (unit: string) => string): string =>
  text.replace(characters, (unit) => `\\u${hexOf(unit)}`);

const lowerHex = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, '0');
const upperHex = (unit: string): string => lowerHex(unit).toUpperCase();

/** How a writer percent-encodes: what it leaves as it is, and what it writes for a space. */
interface PercentWriter {
  /** By byte: 1 where it stays. */
  readonly kept: Uint8Array;
  readonly space: '%20' | '+';
}

const percentWriter = (
  characters: string,
  space: PercentWriter['space'] = '%20',
): PercentWriter => {
  const kept = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) kept[byte] = 1;
  return { kept, space };
};

const wordCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';

/** Names say whose rule it is. Other writers follow one of these. */
const percentWriters: readonly PercentWriter[] = [
  percentWriter(''),
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

const upperDigits = Buffer.from('0123456789ABCDEF');
const lowerDigits = Buffer.from('0123456789abcdef');

/** In the spellings of common writers, with digits in both cases. */
function* percentForms(bytes: Buffer): Generator<Buffer> {
  for (const writer of percentWriters) {
    yield percentEncoded(bytes, writer, upperDigits);
    yield percentEncoded(bytes, writer, lowerDigits);
  }
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

function* htmlForms(text: string): Generator<string> {
  if (!/[&<>"']/.test(text)) return;
  const plain = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  for (const [double, single] of htmlQuotes) {
    yield plain.replaceAll('"', double).replaceAll("'", single);
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
