import type { Work } from '@glovebox/expressions';
import { isJsonObject } from '@glovebox/wire';
import { redactorOf, type KnownToRun } from './redact';

/** The cost of redacting one value: about 250 ms at worst, in slices. */
const stepsMax = 16_000_000;
const textsAtOnce = 1_000;

/**
 * The part of what a run knew that its own caller must not see: data of tokens, and the
 * configuration unless the caller gave it. What the caller sent in plain is shown.
 */
export function secretsOf(
  known: KnownToRun,
  { isConfigurationStored }: { readonly isConfigurationStored: boolean },
): KnownToRun {
  return {
    ...known,
    data: [...known.data, filledIn(known.sent, known.args)],
    args: {},
    sent: {},
    configuration: isConfigurationStored ? known.configuration : {},
  };
}

/** What expressions became. The rest is undefined. */
function filledIn(sent: unknown, args: unknown): unknown {
  if (sent === args) return undefined;
  if (Array.isArray(sent) && Array.isArray(args)) {
    return sent.map((item, nth) => filledIn(item, (args as unknown[])[nth]));
  }
  if (!isJsonObject(sent) || !isJsonObject(args)) return args;
  return Object.values(sent).map((member, nth) => filledIn(member, Object.values(args)[nth]));
}

/** Replaces every secret in the texts, numbers and names of a value. */
export function* redactedValue(value: unknown, secrets: KnownToRun): Work<unknown> {
  const { data, opened, configuration } = secrets;
  const hasSecrets =
    opened.values?.length !== 0 ||
    data.some((part) => part !== undefined) ||
    Object.keys(configuration).length > 0;
  if (!hasSecrets) return value;
  const texts: string[] = [];
  yield* replaceTexts(value, (text) => {
    texts.push(text);
    return text;
  });
  const shown = (yield* redactorOf(secrets, stepsMax)(texts)).values();
  return yield* replaceTexts(value, () => shown.next().value ?? '');
}

/** Copies the value, with each text as it is made of the old one. A number that changes is text. */
function* replaceTexts(value: unknown, replaced: (text: string) => string): Work<unknown> {
  let seen = 0;
  function* copyOf(part: unknown): Work<unknown> {
    seen += 1;
    if (seen % textsAtOnce === 0) yield;
    if (typeof part === 'string') return replaced(part);
    if (typeof part === 'number') {
      const text = replaced(String(part));
      return text === String(part) ? part : text;
    }
    if (Array.isArray(part)) {
      const items: unknown[] = [];
      for (const item of part as unknown[]) items.push(yield* copyOf(item));
      return items;
    }
    if (typeof part !== 'object' || part === null) return part;
    const members: [string, unknown][] = [];
    for (const [name, member] of Object.entries(part)) {
      members.push([replaced(name), yield* copyOf(member)]);
    }
    return Object.fromEntries(members);
  }
  return yield* copyOf(value);
}
