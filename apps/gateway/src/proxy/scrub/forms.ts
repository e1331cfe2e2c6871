/**
 * The forms in which a destination may write a text that it was sent: as it is, in strings of JSON,
 * percent-encoded, escaped in HTML, and within base 64 (docs/adr/0151). Most texts have one form of
 * the first four.
 */
export function formsOf(text: string): Buffer[] {
  const texts = new Set([text, ...jsonForms(text), ...percentForms(text), ...htmlForms(text)]);
  const forms = [...texts].map((form) => Buffer.from(form, 'utf8'));
  return [...forms, ...base64Forms(Buffer.from(text, 'utf8'))];
}

/** Escaped as JavaScript, Go, Python, Java, .NET and PHP write it. */
function* jsonForms(text: string): Generator<string> {
  const plain = JSON.stringify(text).slice(1, -1);
  if (plain === text && !unlikeInJson.test(text)) return;
  const forms = [
    plain,
    escaped(plain, /[<>&\u2028\u2029]/g, lowerHex),
    escaped(plain, /[^\0-\x7e]/g, lowerHex),
    escaped(plain, /[^\0-\x7e]/g, upperHex),
    escaped(plain.replaceAll('\\"', '\\u0022'), /[<>&'+`]|[^\0-\x7e]/g, upperHex),
  ];
  for (const form of forms) yield* [form, form.replaceAll('/', '\\/')];
}

const unlikeInJson = /[/<>&'+`]|[^\0-\x7e]/;

const escaped = (text: string, characters: RegExp, hexOf: (unit: string) => string): string =>
  text.replace(characters, (unit) => `\\u${hexOf(unit)}`);

const lowerHex = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, '0');
const upperHex = (unit: string): string => lowerHex(unit).toUpperCase();

/** As a path, as a form, strictly, and with every byte encoded, in both cases. */
function* percentForms(text: string): Generator<string> {
  const component = encodeURIComponent(text);
  const strict = component.replace(/[!'()*]/g, percented);
  const form = component.replace(/%20/g, '+').replace(/[!'()~]/g, percented);
  const all = Buffer.from(text, 'utf8').toString('hex').replace(/../g, '%$&');
  for (const each of [component, strict, form, all.toUpperCase()]) {
    yield* [each, each.replace(/%../g, (byte) => byte.toLowerCase())];
  }
}

const percented = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

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
