import { Problem } from '@glovebox/problems';

export interface JsonRules {
  readonly depthMax?: number;
  /** Members of the document, or all of it, that are the customer's own: any JSON, names included. */
  readonly free?: readonly string[] | 'all';
}

const depthDefault = 64;
const poisoned = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * JSON as a careful reader takes it: no duplicate members, no member that could reach a prototype,
 * nothing nested deeper than the limit, no lone surrogate. Throws a Problem that names the place,
 * never the text.
 */
export function parseStrictJson(
  text: string,
  { depthMax = depthDefault, free = [] }: JsonRules = {},
): unknown {
  inspect(text, depthMax, free);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Problem('invalid_json');
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new Problem('invalid_json', { detail: 'The body is not valid UTF-8.' });
  }
}

/** One pass over the text before JSON.parse builds anything, iterative so that depth cannot hurt. */
function inspect(text: string, depthMax: number, free: readonly string[] | 'all'): void {
  const isFreeMember = (name: string): boolean => free === 'all' || free.includes(name);
  let isFree = free === 'all';
  const members: (Set<string> | null)[] = [];
  let at = 0;
  let expectsName = false;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      const end = endOfString(text, at);
      const literal = text.slice(at, end);
      const names = members.at(-1);
      if (members.length === 1 && expectsName) isFree = free === 'all';
      if (!isFree) rejectLoneSurrogates(literal, at);
      if (names && expectsName) {
        const name = rememberName(names, literal, at);
        if (!isFree && poisoned.has(name)) refuseName(at);
        if (members.length === 1) isFree = isFreeMember(name);
        expectsName = false;
      }
      at = end;
      continue;
    }
    if (isFree && char !== undefined && /[-\d]/.test(char)) {
      at = endOfExactNumber(text, at);
      continue;
    }
    if (char === '{' || char === '[') {
      members.push(char === '{' ? new Set() : null);
      expectsName = char === '{';
      if (members.length > depthMax) {
        throw new Problem('invalid_json', {
          detail: `The JSON is nested deeper than ${depthMax} levels.`,
        });
      }
    } else if (char === '}' || char === ']') {
      members.pop();
    } else if (char === ',') {
      expectsName = members.at(-1) instanceof Set;
    }
    at += 1;
  }
}

const numberLiteral = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** No number that can be kept exactly needs more, unless it is padded with zeros. */
const numberLengthMax = 400;

/** What is the customer's own is kept as it is, or not at all: no digit is lost in silence. */
function endOfExactNumber(text: string, start: number): number {
  numberLiteral.lastIndex = start;
  const [literal] = numberLiteral.exec(text) ?? [];
  if (literal === undefined) throw new Problem('invalid_json');
  if (literal.length > numberLengthMax) {
    throw new Problem('invalid_json', {
      detail: `The number at character ${start} is longer than ${numberLengthMax} characters.`,
    });
  }
  if (significance(literal) !== significance(String(Number(literal)))) {
    throw new Problem('invalid_json', {
      detail: `The number at character ${start} cannot be kept exactly; it may be sent as a string.`,
    });
  }
  return start + literal.length;
}

/** Digits and exponent of a number, the same for every way of writing it. */
function significance(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const trimmed = withoutTrailingZeros(digits);
  if (trimmed === '') return whole === '' ? 'none' : '0';
  const power = Number(exponent) - fraction.length + (digits.length - trimmed.length);
  return `${sign}${trimmed}e${power}`;
}

/** By hand: /0+$/ tries each zero within the digits anew. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  throw new Problem('invalid_json');
}

function rememberName(names: Set<string>, literal: string, at: number): string {
  let name: string;
  try {
    name = JSON.parse(literal) as string;
  } catch {
    throw new Problem('invalid_json');
  }
  if (names.has(name)) {
    throw new Problem('invalid_json', {
      detail: `The JSON has a duplicate member at character ${at}.`,
    });
  }
  names.add(name);
  return name;
}

function refuseName(at: number): never {
  throw new Problem('invalid_json', {
    detail: `The JSON has a member with a reserved name at character ${at}.`,
  });
}

function rejectLoneSurrogates(literal: string, at: number): void {
  const suspicious = /[\ud800-\udfff]|\\u[dD][89a-fA-F]/.test(literal);
  if (!suspicious) return;
  let value: string;
  try {
    value = JSON.parse(literal) as string;
  } catch {
    throw new Problem('invalid_json');
  }
  if (!value.isWellFormed()) {
    throw new Problem('invalid_json', {
      detail: `The JSON has half a surrogate pair at character ${at}.`,
    });
  }
}
