import type { Work } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import { jsonValuesMax, parseStrictJson } from '@glovebox/service-host';
import type { Reading } from './content';

/** Contract: the text as it was received, so that signatures over it can be checked. */
export const rawBodyBytesMax = 1024 * 1024;

/** What code sees of a body: `body` undefined when there is none. */
export interface SeenBody {
  readonly body?: unknown;
  readonly raw_body?: string;
}

/** `received`: the text before anything here changed it, where code may see that. */
export function* seenBody(
  text: string,
  { context }: Reading,
  received: string | undefined,
): Work<SeenBody> {
  if (text === '') return {};
  const isShort = received !== undefined && Buffer.byteLength(received) <= rawBodyBytesMax;
  return {
    body: context === 'text' ? text : context === 'form' ? formOf(text) : yield* jsonOf(text),
    ...(isShort ? { raw_body: received } : {}),
  };
}

const jsonOf = (text: string): Work<unknown> =>
  parseStrictJson(text.startsWith('\ufeff') ? text.slice(1) : text, { free: 'all', rounds: true });

/** A name that comes again has a list. */
function formOf(text: string): Record<string, string | string[]> {
  const members = new Map<string, string | string[]>();
  let values = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    values += 1;
    if (values > jsonValuesMax) {
      throw new Problem('invalid_request', {
        detail: `The form holds more than ${jsonValuesMax} values.`,
      });
    }
    const known = members.get(name);
    if (known === undefined) members.set(name, value);
    else if (typeof known === 'string') members.set(name, [known, value]);
    else known.push(value);
  }
  return Object.fromEntries(members);
}

/** Headers, as name, value, name, value…, under lower-case names. */
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
