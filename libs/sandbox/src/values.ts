import { UnsendableFrame } from './frames';

/**
 * The JSON that frames carry as their value. It is written and read at the ends only: a runner does
 * not look into it. This file also runs inside the sandbox, as frames.ts does.
 */
const { parse, stringify } = JSON;

/**
 * Nesting of a value: 64 as anywhere in the product, and 8 for the levels around it (arguments,
 * error, `raw` and `body` of a transform, lists of tokens).
 */
export const valueDepthMax = 72;

/** A value that its receiver does not take. Only the run or the call that it belongs to fails. */
export class UnreadableValue extends Error {
  constructor(readonly reason: 'not_json' | 'too_deep' | 'too_many') {
    super(`the value is ${reason.replace('_', ' ')}`);
  }
}

/** Nothing is written for undefined. */
export function writeValue(value: unknown): string {
  let text: string;
  try {
    text = stringify(value) ?? '';
  } catch (cause) {
    // Circular, a BigInt, too deep for the stack, a toJSON that threw, too long for a string.
    throw new UnsendableFrame('not_serialisable', 'a value cannot be written as JSON', { cause });
  }
  if (measure(text, Infinity) !== undefined) {
    throw new UnsendableFrame('not_serialisable', 'a value is nested too deeply');
  }
  return text;
}

/** Reads at most `membersMax` members of lists and objects, counted before anything is parsed. */
export function readValue(bytes: Buffer, membersMax = Infinity): unknown {
  if (bytes.length === 0) return undefined;
  const text = bytes.toString('utf8');
  // Measured before parsing: nesting costs the parser fifty times its size in memory.
  const fault = measure(text, membersMax);
  if (fault !== undefined) throw new UnreadableValue(fault);
  try {
    return parse(text);
  } catch {
    throw new UnreadableValue('not_json');
  }
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Counts brackets and commas outside of strings, whether the text is valid JSON or not. */
function measure(text: string, membersMax: number): 'too_deep' | 'too_many' | undefined {
  let depth = 0;
  let members = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quote) at = endOfString(text, at + 1);
    else if (unit === openList || unit === openObject) {
      depth += 1;
      members += 1;
      if (depth > valueDepthMax) return 'too_deep';
    } else if (unit === closeList || unit === closeObject) depth -= 1;
    else if (unit === comma) members += 1;
    if (members > membersMax) return 'too_many';
  }
  return undefined;
}

/** The place of the quote that ends a string. Most strings have no escape, and cost one search. */
function endOfString(text: string, from: number): number {
  const first = text.indexOf('"', from);
  if (first === -1) return text.length;
  if (text.charCodeAt(first - 1) !== backslash) return first;
  for (let at = from; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === backslash) at += 1;
    else if (unit === quote) return at;
  }
  return text.length;
}
