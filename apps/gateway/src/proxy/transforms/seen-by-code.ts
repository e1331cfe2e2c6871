import type { Work } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { valueBytesMax } from '@glovebox/sandbox';
import { jsonValuesMax, parseStrictJson } from '@glovebox/wire';
import { tooLarge, type BodyFormat } from './content';

/** The text as it was received, up to this size, so that code can verify a signature over it. */
const rawBodyBytesMax = 1024 * 1024;

/** The body that code sees; `body` is undefined when there is none. */
export interface SeenBody {
  readonly body?: unknown;
  readonly raw_body?: string;
}

/** `received`: the text before any change here, if code may see that. */
export function* seenBody(
  text: string,
  { context }: BodyFormat,
  received: string | undefined,
): Work<SeenBody> {
  if (text === '') return {};
  if (context === 'text') yield* refuseUnwritable(text);
  const isShort = received !== undefined && Buffer.byteLength(received) <= rawBodyBytesMax;
  return {
    body:
      context === 'text' ? text : context === 'form' ? yield* formOf(text) : yield* jsonOf(text),
    ...(isShort ? { raw_body: received } : {}),
  };
}

const escapeCharacters = 6;
const countedAtOnce = 256 * 1024;

/**
 * A control character takes six characters as JSON. Counting first avoids writing all of it in
 * vain.
 */
function* refuseUnwritable(text: string): Work<void> {
  if (text.length * escapeCharacters < valueBytesMax) return;
  let characters = text.length;
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) < 0x20) characters += escapeCharacters - 1;
    if (at % countedAtOnce === 0) yield;
  }
  if (characters > valueBytesMax) throw tooLarge('body as JSON');
}

const jsonOf = (text: string): Work<unknown> =>
  parseStrictJson(text.startsWith('\ufeff') ? text.slice(1) : text, { free: 'all', rounds: true });

/** A repeated name has a list. */
function* formOf(text: string): Work<Record<string, string | string[]>> {
  // Counted before anything is made of the fields.
  let fields = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    fields += 1;
    if (fields > jsonValuesMax) {
      throw new Problem('invalid_request', {
        detail: `The form holds more than ${jsonValuesMax} values.`,
      });
    }
  }
  yield;
  const members = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const known = members.get(name);
    if (known === undefined) members.set(name, value);
    else if (typeof known === 'string') members.set(name, [known, value]);
    else known.push(value);
  }
  return Object.fromEntries(members);
}

/** Headers as name, value, name, value… become an object with lower-case names. */
export function seenHeaders(headers: readonly string[]): Record<string, string | string[]> {
  const seen = new Map<string, string | string[]>();
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at]?.toLowerCase() ?? '';
    const value = headers[at + 1] ?? '';
    const known = seen.get(name);
    if (name === 'set-cookie') seen.set(name, [...(known ?? []), value]);
    else if (known === undefined) seen.set(name, value);
    else seen.set(name, [known, value].join(name === 'cookie' ? '; ' : ', '));
  }
  return Object.fromEntries(seen);
}
