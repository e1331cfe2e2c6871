import type { ValidationError } from 'class-validator';
import { didYouMean } from '@glovebox/problems';
import { membersOf, type Dto, type Rule } from './dto-members';

interface Broken {
  readonly property: string;
  readonly rule: Rule;
  /** All rules of the member. */
  readonly rules: ReadonlyMap<string, Rule>;
  readonly value: unknown;
  /** The text of the decorator itself. */
  readonly message: string;
}

const wholeNumber = ({ rules }: Broken): string =>
  `must be a whole number from ${rules.get('min')?.args[0]} to ${rules.get('max')?.args[0]}`;

const ownMessage = ({ message }: Broken): string => message;

/** The text of each rule, the most basic rule first. A member shows that of the first it breaks. */
const texts: Readonly<Record<string, (broken: Broken) => string>> = {
  isArray: ({ rules }) => {
    if (rules.get('isString')?.each) return 'must be a list of strings';
    return rules.get('isObject')?.each ? 'must be a list of objects' : 'must be a list';
  },
  arrayMaxSize: ({ rule }) => `must have at most ${rule.args[0]} entries`,
  arrayMinSize: () => 'must not be empty',
  isString: ({ rule }) => (rule.each ? 'must be a list of strings' : 'must be a string'),
  isObject: ({ rule }) => (rule.each ? 'must be a list of objects' : 'must be an object'),
  isBoolean: () => 'must be true or false',
  isInt: wholeNumber,
  min: wholeNumber,
  max: wholeNumber,
  isUuid: () => 'must be a UUID',
  isIn: ({ property, rule, value }) => {
    const allowed = rule.args[0] as readonly string[];
    if (!rule.each) return `must be ${choice(allowed)}`;
    return unknownEntry(property, value as readonly unknown[], allowed);
  },
  notContains: ownMessage,
  isNotEmpty: () => 'must not be empty',
  textLength: ownMessage,
  matches: ownMessage,
  isInstant: ownMessage,
  arrayUnique: ownMessage,
  isOrigin: ownMessage,
  isStringMap: ownMessage,
};

/** The one message of a member that breaks a rule. */
export function messageOf({ target, property, value, constraints = {} }: ValidationError): string {
  if (value === undefined || value === null) return 'is required';
  const { constructor } = target as { constructor: Dto };
  const { rules } = membersOf(constructor).find(({ name }) => name === property) ?? {};
  for (const [name, text] of Object.entries(texts)) {
    const message = constraints[name];
    const rule = rules?.get(name);
    if (rules && rule && message !== undefined)
      return text({ property, rule, rules, value, message });
  }
  return Object.values(constraints).join();
}

/** A name that may be shown, as those of permissions. */
const showable = /^[a-z_-]{1,20}:[a-z_-]{1,20}$/;

/** Entries of lists count from 0, as in the paths of errors. */
function unknownEntry(
  property: string,
  entries: readonly unknown[],
  allowed: readonly string[],
): string {
  const kind = property.replace(/s$/, '');
  const at = entries.findIndex((one) => !(allowed as readonly unknown[]).includes(one));
  const entry = entries[at];
  if (typeof entry !== 'string' || !showable.test(entry)) return `entry ${at} is no ${kind}`;
  return `${entry} is no ${kind}${didYouMean(entry, allowed)}`;
}

/** Joins words as a sentence does: a, b or c. */
export function choice(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
