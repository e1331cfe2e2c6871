import { randomBytes } from 'node:crypto';
import { Opaque, type Work } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { decodeUtf8, exactNumber, parseStrictJson } from '@glovebox/wire';

/**
 * A number that a double would write differently, such as `10.00` or an id of 64 bits. It goes out
 * byte for byte. Its reader gets the number it stands for, unless digits would be lost.
 */
class ExactNumber extends Opaque {
  readonly #literal: string;

  constructor(literal: string) {
    super();
    this.#literal = literal;
  }

  get literal(): string {
    return this.#literal;
  }

  plain(): number {
    const number = exactNumber(this.literal);
    if (number !== undefined) return number;
    throw new Problem('invalid_json', {
      detail: 'A step reads a number that cannot be kept exactly. Send it as a string.',
    });
  }
}

/** A prefix that nobody can guess for a string of a message. */
const newMark = (): string => randomBytes(12).toString('base64url');

/**
 * The value of a body. `writeExactJson` writes its untouched parts as they were. Member names are
 * not restricted: they are the business of the two sides. Duplicate members, too deep nesting and
 * too many values are refused.
 */
export function* readExactJson(body: Buffer | string): Work<unknown> {
  const text = typeof body === 'string' ? body.replace(/^\ufeff/, '') : yield* decodeUtf8(body);
  const mark = newMark();
  let isMarked = false;
  const standIn = (literal: string): string => {
    isMarked = true;
    return `"${mark}${literal}"`;
  };
  const value = yield* parseStrictJson(text, { free: 'all', standIn });
  yield;
  return isMarked ? yield* unmarked(value, mark, { left: valuesAtOnce }) : value;
}

/** Values between two points where other calls may be served. */
const valuesAtOnce = 2_000;

interface Count {
  left: number;
}

function isTurnOver(count: Count): boolean {
  count.left -= 1;
  if (count.left > 0) return false;
  count.left = valuesAtOnce;
  return true;
}

/** Works in place. The body is no deeper than bodies may be. */
function* unmarked(value: unknown, mark: string, count: Count): Work<unknown> {
  if (typeof value === 'string') {
    return value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    if (isTurnOver(count)) yield;
    const member = members[name];
    const isLeaf = typeof member !== 'object' && typeof member !== 'string';
    // Assigning to an existing member also works for one called `__proto__`.
    if (!isLeaf) members[name] = yield* unmarked(member, mark, count);
  }
  return value;
}

/** Writes what JSON.stringify does, except for numbers, and a part at a time. */
export function* writeExactJson(value: unknown): Work<string> {
  const pieces: string[] = [];
  yield* write(value, pieces, { left: valuesAtOnce });
  return pieces.join('');
}

function* write(value: unknown, pieces: string[], count: Count): Work<void> {
  if (isTurnOver(count)) yield;
  if (value instanceof ExactNumber) pieces.push(value.literal);
  else if (typeof value !== 'object' || value === null) pieces.push(JSON.stringify(value));
  else if (Array.isArray(value)) {
    let before = '[';
    for (const item of value as unknown[]) {
      pieces.push(before);
      before = ',';
      yield* write(item, pieces, count);
    }
    pieces.push(value.length === 0 ? '[]' : ']');
  } else {
    let before = '{';
    for (const [name, member] of Object.entries(value)) {
      pieces.push(before, JSON.stringify(name), ':');
      before = ',';
      yield* write(member, pieces, count);
    }
    pieces.push(before === '{' ? '{}' : '}');
  }
}
