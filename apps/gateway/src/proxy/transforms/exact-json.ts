import { randomUUID } from 'node:crypto';
import { isContainer, Opaque, type Container, type Work } from '@glovebox/expressions';
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
const newMark = (): string => randomUUID();

/**
 * The value of a body. `writeExactJson` writes its untouched parts as they were. Member names are
 * not restricted: they are the business of the two sides. Duplicate members, too deep nesting and
 * too many values are refused.
 */
export function* readExactJson(body: Buffer | string): Work<unknown> {
  const text = typeof body === 'string' ? body.replace(/^\ufeff/, '') : yield* decodeUtf8(body);
  let mark: string | undefined;
  const standIn = (literal: string): string => `"${(mark ??= newMark())}${literal}"`;
  const value = yield* parseStrictJson(text, { free: 'all', standIn });
  return mark === undefined ? value : yield* unmarked(value, mark);
}

/** Values between two points where other calls may be served. */
const valuesAtOnce = 2_000;
/** Characters of texts that are written without a pause. */
const charactersAtOnce = 64 * 1024;

type Members = Record<string, unknown>;

/** Works in place. Assigning to an existing member also works for one called `__proto__`. */
function* unmarked(value: unknown, mark: string): Work<unknown> {
  yield;
  const holder = [value];
  const waiting: Container[] = [holder];
  let visits = 0;
  for (let parent = waiting.pop() as Members; parent; parent = waiting.pop() as Members) {
    for (const key of Object.keys(parent)) {
      const member = parent[key];
      if (typeof member !== 'string') {
        if (isContainer(member)) waiting.push(member);
      } else if (member.startsWith(mark)) {
        parent[key] = new ExactNumber(member.slice(mark.length));
      }
      visits += 1;
      if (visits % valuesAtOnce === 0) yield;
    }
  }
  return holder[0];
}

/** Writes what JSON.stringify does, except for numbers. Uses the document up. */
export function* writeExactJson(value: unknown): Work<string> {
  // A step has removed the whole document.
  if (value === undefined) return '';
  const holder = [value];
  const numbers: PlacedNumber[] = [];
  const left = { values: valuesAtOnce, characters: charactersAtOnce };
  if (isSmall(holder, left, numbers)) return writtenAtOnce(holder, numbers);
  if (!isContainer(value)) return writtenLeaf(value);
  const pieces: string[] = [];
  yield* write(value, pieces, left);
  return pieces.join('');
}

interface Left {
  values: number;
  characters: number;
}

interface PlacedNumber {
  readonly parent: Members;
  readonly key: string;
  readonly literal: string;
}

/** True for a document that can be written without a pause. Finds its numbers. */
function isSmall(parent: Container, left: Left, numbers: PlacedNumber[]): boolean {
  const members = parent as Members;
  for (const key of Object.keys(parent)) {
    const member = members[key];
    left.values -= 1;
    left.characters -= key.length;
    if (typeof member === 'string') left.characters -= member.length;
    if (left.values < 0 || left.characters < 0) return false;
    if (member instanceof ExactNumber) {
      numbers.push({ parent: members, key, literal: member.literal });
    } else if (isContainer(member) && !isSmall(member, left, numbers)) return false;
  }
  return true;
}

/** A string stands in for each number while JSON.stringify works. */
function writtenAtOnce(holder: readonly unknown[], numbers: readonly PlacedNumber[]): string {
  if (numbers.length === 0) return JSON.stringify(holder[0]);
  const mark = newMark();
  for (const { parent, key, literal } of numbers) parent[key] = `${mark}${literal}`;
  return JSON.stringify(holder[0]).replace(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1');
}

const writtenLeaf = (value: unknown): string =>
  value instanceof ExactNumber ? value.literal : JSON.stringify(value);

function isTurnOver(left: Left): boolean {
  left.values -= 1;
  if (left.values > 0) return false;
  left.values = valuesAtOnce;
  return true;
}

/** Writes a list or an object a part at a time. */
function* write(value: Container, pieces: string[], left: Left): Work<void> {
  const isList = Array.isArray(value);
  let before = isList ? '[' : '{';
  for (const nth of isList ? (value as unknown[]) : Object.entries(value)) {
    pieces.push(before);
    before = ',';
    if (isTurnOver(left)) yield;
    let member = nth;
    if (!isList) {
      const [name, named] = nth as [string, unknown];
      pieces.push(JSON.stringify(name), ':');
      member = named;
    }
    if (isContainer(member)) yield* write(member, pieces, left);
    else pieces.push(writtenLeaf(member));
  }
  if (before !== ',') pieces.push(before);
  pieces.push(isList ? ']' : '}');
}
