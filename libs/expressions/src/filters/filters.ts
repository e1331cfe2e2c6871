import { type Budget, textLengthMax } from '../bounds/limits';
import type { Work } from '../bounds/time-slices';
import type { Argument, Change } from './filter';
import {
  append,
  hmac,
  hmacOfBody,
  last4,
  ofText,
  padLeft,
  padRight,
  prepend,
  replace,
  reveal,
  revealLast,
  slice,
} from './text-filters';
import { cardBin, cardExp, json, toBoolean, toNumber, toText } from './value-filters';

/** Filters whose result tells the text that they took: its receiver may write that again. */
export const tellingFilters: ReadonlySet<string> = new Set([
  'pad_left',
  'pad_right',
  'stringify',
  'to_string',
  'to_number',
  'upcase',
  'downcase',
  'replace',
  'remove',
  'append',
  'prepend',
  'to_base64',
  'to_base16',
]);

type ChangeInSlices = (value: unknown, budget: Budget) => Work<unknown>;

interface Filter {
  readonly argumentsMax: number;
  /** Undefined when the arguments are wrong. */
  readonly make: (...args: readonly Argument[]) => Change | undefined;
}

const withoutArguments = (change: Change): Filter => ({ argumentsMax: 0, make: () => change });
const bytesAs = (encoding: 'base64' | 'hex'): Filter =>
  withoutArguments(ofText((text) => Buffer.from(text, 'utf8').toString(encoding)));

/** docs/reference/expressions.md has an example of each. */
export const filters: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ['json', { argumentsMax: 1, make: json }],
  ['last4', withoutArguments(last4())],
  ['reveal_last', { argumentsMax: 2, make: revealLast }],
  ['reveal', { argumentsMax: 3, make: reveal }],
  ['pad_left', { argumentsMax: 2, make: padLeft }],
  ['pad_right', { argumentsMax: 2, make: padRight }],
  ['stringify', withoutArguments((value) => JSON.stringify(value))],
  ['to_string', withoutArguments(toText)],
  ['to_number', withoutArguments(toNumber)],
  ['to_boolean', withoutArguments(toBoolean)],
  ['card_exp', { argumentsMax: 1, make: cardExp }],
  ['card_bin', { argumentsMax: 1, make: cardBin }],
  ['upcase', withoutArguments(ofText((text) => text.toUpperCase()))],
  ['downcase', withoutArguments(ofText((text) => text.toLowerCase()))],
  ['slice', { argumentsMax: 2, make: slice }],
  ['replace', { argumentsMax: 2, make: replace }],
  ['remove', { argumentsMax: 1, make: (search) => replace(search, '') }],
  ['append', { argumentsMax: 1, make: append }],
  ['prepend', { argumentsMax: 1, make: prepend }],
  ['hmac', { argumentsMax: 2, make: hmac }],
  ['hmac_body', { argumentsMax: 2, make: hmacOfBody }],
  ['to_base64', bytesAs('base64')],
  ['to_base16', bytesAs('hex')],
]);

/** The filter with its arguments. Undefined when the arguments are wrong. */
export function makeChange(filter: Filter, args: readonly Argument[]): ChangeInSlices | undefined {
  if (args.length > filter.argumentsMax) return undefined;
  const change = filter.make(...args);
  return change && ((value, budget) => bounded(change, value, budget));
}

function* bounded(change: Change, value: unknown, budget: Budget): Work<unknown> {
  budget.work(sizeOf(value));
  const made = change(value, budget);
  const result = isWork(made) ? yield* made : made;
  budget.work(sizeOf(result));
  return sizeOf(result) > textLengthMax ? undefined : result;
}

/** No JSON value has these properties. */
function isWork(made: unknown): made is Work<unknown> {
  return typeof made === 'object' && made !== null && Symbol.iterator in made && 'throw' in made;
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 16;
}
