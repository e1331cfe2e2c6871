import { randomBytes } from 'node:crypto';
import { Opaque, type Work } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { decodeUtf8, exactNumber, parseStrictJson } from '@glovebox/service-host';

/**
 * A number that a double would not write as it was read, such as `10.00` or an id of 64 bits. It goes
 * out byte for byte. Whoever reads it gets the number it stands for, unless digits would be lost.
 */
class ExactNumber extends Opaque {
  /** While a document is written. */
  static mark: string | undefined;

  readonly #literal: string;

  constructor(literal: string) {
    super();
    this.#literal = literal;
  }

  plain(): number {
    const number = exactNumber(this.#literal);
    if (number !== undefined) return number;
    throw new Problem('invalid_json', {
      detail: 'A step reads a number that cannot be kept exactly; it may be sent as a string.',
    });
  }

  override toJSON(): unknown {
    return ExactNumber.mark === undefined ? this.plain() : ExactNumber.mark + this.#literal;
  }
}

/** No string of a message can be guessed to begin like this. */
const newMark = (): string => randomBytes(12).toString('base64url');

/**
 * The value of a body, with all that `writeExactJson` needs to write what nobody touched as it was.
 * Names of members are free: a body is the business of those who exchange it. Duplicate members, a
 * body that is nested too deep and one of too many values are refused.
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
  return isMarked ? unmarked(value, mark) : value;
}

/** In place. No deeper than bodies may be. */
function unmarked(value: unknown, mark: string): unknown {
  if (typeof value === 'string') {
    return value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  // Assigned to a member that is there already, `__proto__` is one like the others.
  for (const name of Object.keys(members)) members[name] = unmarked(members[name], mark);
  return value;
}

export function* writeExactJson(value: unknown): Work<string> {
  const mark = newMark();
  const text = markedText(value, mark);
  yield;
  return text.includes(mark) ? text.replaceAll(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1') : text;
}

function markedText(value: unknown, mark: string): string {
  ExactNumber.mark = mark;
  try {
    return JSON.stringify(value);
  } finally {
    ExactNumber.mark = undefined;
  }
}
