import { isTokenId, normalTokenId } from '../scan/token-id';

/**
 * A second implementation of templates, character by character and without regard for speed, for
 * the filters that `cases.ts` uses. It shares nothing but the shape of an id.
 */
export type Context = 'json' | 'text' | 'form' | 'path' | 'value' | 'header';

/** The outcome of a refused request, for whatever reason. */
export const refused = Symbol('refused');

class Refusal extends Error {}

export function slowly(
  context: Context,
  text: string,
  values: ReadonlyMap<string, unknown>,
): unknown {
  try {
    return expand(context, text, values);
  } catch (error) {
    if (error instanceof Refusal) return refused;
    throw error;
  }
}

function expand(context: Context, text: string, values: ReadonlyMap<string, unknown>): unknown {
  switch (context) {
    case 'json':
      return expandJson(text, values);
    case 'form':
      return text
        .split('&')
        .map((field) => expandEncoded(field, values, true))
        .join('&');
    case 'path':
      return expandEncoded(text, values, false);
    case 'header':
      return expandSpans(text, plain, (inner) =>
        withoutControls(wellFormed(valueOf(inner, values))),
      );
    case 'value':
      return expandValue(text, values);
    case 'text':
      return expandSpans(text, plain, (inner) => wellFormed(valueOf(inner, values)));
  }
}

type Marks = (text: string, at: number, brace: '{' | '}') => number;

/** The length of the brace at an index; 0 if there is none. */
const plain: Marks = (text, at, brace) => (text[at] === brace ? 1 : 0);

const encoded: Marks = (text, at, brace) => {
  const code = brace === '{' ? '%7B' : '%7D';
  return text.slice(at, at + 3).toUpperCase() === code ? 3 : plain(text, at, brace);
};

function twice(marks: Marks, text: string, at: number, brace: '{' | '}'): number {
  const first = marks(text, at, brace);
  const second = first > 0 ? marks(text, at + first, brace) : 0;
  return second > 0 ? first + second : 0;
}

function expandSpans(
  text: string,
  marks: Marks,
  replacementOf: (inner: string, before: string) => string,
): string {
  let result = '';
  let before = '';
  for (let at = 0; at < text.length;) {
    const open = twice(marks, text, at, '{');
    const close = open > 0 ? endOf(text, at + open, marks) : undefined;
    if (!close) {
      if (open > 0) return result + text.slice(at);
      result += text.charAt(at);
      before += text.charAt(at);
      at += 1;
      continue;
    }
    if (Buffer.byteLength(text.slice(at, close.end)) > 4096) throw new Refusal();
    result += replacementOf(text.slice(at + open, close.start), before);
    before = '';
    at = close.end;
  }
  return result;
}

function endOf(
  text: string,
  from: number,
  marks: Marks,
): { start: number; end: number } | undefined {
  for (let at = from; at < text.length; at += 1) {
    const length = twice(marks, text, at, '}');
    if (length > 0) return { start: at, end: at + length };
  }
  return undefined;
}

function expandEncoded(
  text: string,
  values: ReadonlyMap<string, unknown>,
  plusIsSpace: boolean,
): string {
  return expandSpans(text, encoded, (inner, before) => {
    if (before.endsWith('%') || /%[0-9a-f]$/i.test(before)) throw new Refusal();
    const raw = plusIsSpace ? inner.split('+').join(' ') : inner;
    const value = asText(
      valueOf(
        orRefuse(() => decodeURIComponent(raw)),
        values,
      ),
    );
    return encodeURIComponent(Buffer.from(value).toString());
  });
}

function expandJson(text: string, values: ReadonlyMap<string, unknown>): string {
  let result = '';
  let at = 0;
  while (at < text.length) {
    if (text[at] !== '"') {
      if (twice(plain, text, at, '{') > 0) throw new Refusal();
      result += text.charAt(at);
      at += 1;
      continue;
    }
    let end = at + 1;
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
    let next = end + 1;
    while (' \t\n\r'.includes(text[next] ?? 'x')) next += 1;
    result += expandString(text.slice(at, end + 1), text[next] === ':', values);
    at = end + 1;
  }
  return result;
}

function expandString(
  string: string,
  isName: boolean,
  values: ReadonlyMap<string, unknown>,
): string {
  const isClosed = string.length > 1 && string.endsWith('"');
  const content = string.slice(1, isClosed ? -1 : undefined);
  let whole: unknown;
  let count = 0;
  const result = expandSpans(content, plain, (inner, before) => {
    let slashes = 0;
    while (before[before.length - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 1) throw new Refusal();
    const value = valueOf(
      orRefuse(() => JSON.parse(`"${inner}"`) as string),
      values,
    );
    whole = before === '' && content === `{{${inner}}}` ? value : undefined;
    count += 1;
    return JSON.stringify(asText(value)).slice(1, -1);
  });
  const becomesJson = count === 1 && typeof whole === 'object' && whole !== null;
  if (becomesJson && isClosed && !isName) return JSON.stringify(whole);
  return `"${result}${isClosed ? '"' : ''}`;
}

function expandValue(text: string, values: ReadonlyMap<string, unknown>): unknown {
  let whole: { value: unknown } | undefined;
  const result = expandSpans(text, plain, (inner) => {
    const value = valueOf(inner, values);
    if (text === `{{${inner}}}`) whole = { value };
    return asText(value);
  });
  return whole ? whole.value : result;
}

function orRefuse<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw new Refusal();
  }
}

function withoutControls(text: string): string {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 32 || (code >= 127 && code < 160)) throw new Refusal();
  }
  return text;
}

function wellFormed(value: unknown): string {
  return Buffer.from(asText(value)).toString();
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function valueOf(inner: string, values: ReadonlyMap<string, unknown>): unknown {
  const [head = '', ...filters] = splitOutsideQuotes(inner);
  const id = head.trim();
  if (!isTokenId(id)) throw new Refusal();
  if (!values.has(normalTokenId(id))) throw new Refusal();
  return filters.reduce<unknown>(
    (value, filter) => filtered(filter.trim(), value),
    values.get(normalTokenId(id)),
  );
}

/** Ids may hold quotes. Quotes have a meaning only behind the first `|`. */
function splitOutsideQuotes(inner: string): string[] {
  const parts = [''];
  let quote = '';
  for (const character of inner) {
    if (quote === '' && character === '|') {
      parts.push('');
      continue;
    }
    if (quote === '' && parts.length > 1 && `'"`.includes(character)) quote = character;
    else if (character === quote) quote = '';
    parts.push(`${parts.pop() ?? ''}${character}`);
  }
  return parts;
}

function filtered(filter: string, value: unknown): unknown {
  const isScalar = ['string', 'number', 'boolean'].includes(typeof value);
  const text = String(value);
  switch (filter) {
    case 'stringify':
      return JSON.stringify(value);
    case 'to_string':
      return asText(value);
    case `json: '$.number'`:
    case `json:"$['number']"`:
      if (typeof value !== 'object' || value === null || !('number' in value)) throw new Refusal();
      return value.number;
  }
  if (!isScalar) throw new Refusal();
  switch (filter) {
    case 'last4':
      return [...text].slice(-4).join('');
    case 'upcase':
      return text.toUpperCase();
    case 'reveal_last: 2':
      return [...text].map((character, i, all) => (i < all.length - 2 ? '*' : character)).join('');
    case `append: '|&"'`:
      return `${text}|&"`;
    case `replace: "4", '{{'`:
      return text.split('4').join('{{');
    default:
      throw new Refusal();
  }
}
