import { Expose, Transform, Type } from 'class-transformer';
import { ValidateBy, ValidateIf, ValidateNested } from 'class-validator';
import { isInstant } from '@glovebox/wire';
import type { Schema } from '../openapi/schema';

/** A class that a body becomes. */
export type Dto = new () => object;
export type Members = Record<string, unknown>;

/** What is wrong with a value; undefined if nothing is. */
type Check = (value: unknown) => string | undefined;

export interface Field {
  readonly name: string;
  readonly optional: boolean;
  readonly raw: boolean;
  readonly nested: (() => Dto) | undefined;
  /** What is wrong with a value that is not absent. */
  readonly wrong: Check;
  /** What the check takes, as OpenAPI says it; of a nested member all but what its class says. */
  readonly schema: Schema;
}

/** Of every resource that has one. */
export const nameMax = 200;
export const descriptionMax = 1_000;
/** Of metadata, of settings, of a configuration. */
export const mapMembersMax = 100;
export const mapNameMax = 100;
/** Of metadata and settings. */
export const mapValueMax = 1_000;
/** Of permissions, containers, search indexes. */
export const listEntriesMax = 100;

interface Presence {
  readonly optional?: boolean;
  /** Any JSON of the customer's, null too: nothing looks into it, nothing rebuilds it. */
  readonly raw?: boolean;
}

const fieldsOfDto = new WeakMap<object, Field[]>();

/** The members that a DTO declares: all others of a body are never looked at. */
export function fieldsOf(dto: object): readonly Field[] {
  const parent = Object.getPrototypeOf(dto) as object | null;
  const inherited = parent === null ? [] : fieldsOf(parent);
  return [...inherited, ...(fieldsOfDto.get(dto) ?? [])];
}

/** The name of the one rule that every field has, among those of class-validator. */
export const fieldRule = 'field';

/** One decorator per field: what it may hold and, unless optional, that it is there. */
function field(
  check: Check,
  { optional = false, raw = false }: Presence,
  schema: Schema,
  nested?: () => Dto,
): PropertyDecorator {
  return (prototype, property) => {
    const name = String(property);
    const wrong: Check = (value) =>
      value === undefined || (value === null && !raw) ? 'is required' : check(value);
    const known = fieldsOfDto.get(prototype.constructor) ?? [];
    const added = { name, optional, raw, nested, wrong, schema };
    fieldsOfDto.set(prototype.constructor, [...known, added]);
    if (optional) ValidateIf((_, value: unknown) => value !== undefined)(prototype, property);
    ValidateBy({
      name: fieldRule,
      validator: {
        validate: (value) => wrong(value) === undefined,
        defaultMessage: (args) => wrong(args?.value) ?? '',
      },
    })(prototype, property);
    if (raw) return;
    Expose()(prototype, property);
    if (nested) {
      Type(nested)(prototype, property);
      ValidateNested()(prototype, property);
    }
    Transform(({ obj, value }) => {
      const given = Object.hasOwn(obj as object, name) ? (obj as Members)[name] : undefined;
      // An optional member that is null counts as absent.
      if (given === undefined || (given === null && optional)) return undefined;
      return nested ? (value as unknown) : given;
    })(prototype, property);
  };
}

const textCheck =
  ({ min, max, pattern, must }: TextRule): Check =>
  (value) => {
    if (typeof value !== 'string') return 'must be a string';
    if (value.includes('\0')) return 'must not contain NUL';
    if (value.length < min) return 'must not be empty';
    if (value.length > max) return `must be at most ${max} characters`;
    return pattern && !pattern.test(value) ? (must ?? 'is malformed') : undefined;
  };

interface TextRule {
  readonly min: number;
  readonly max: number;
  readonly pattern?: RegExp;
  readonly must?: string;
}

export const Text = (rule: Partial<TextRule> & Presence = {}): PropertyDecorator =>
  field(textCheck({ min: 1, max: Infinity, ...rule }), rule, {
    type: 'string',
    ...(rule.min === 0 ? {} : { minLength: rule.min ?? 1 }),
    ...(rule.max === undefined ? {} : { maxLength: rule.max }),
    ...(rule.pattern === undefined ? {} : { pattern: rule.pattern.source }),
  });

export const OneOf = (values: readonly string[], presence: Presence = {}): PropertyDecorator =>
  field(
    (value) => (values.some((one) => one === value) ? undefined : `must be ${list(values)}`),
    presence,
    { type: 'string', enum: values },
  );

export const SomeOf = (
  values: readonly string[],
  presence: Presence & { min?: number } = {},
): PropertyDecorator =>
  field(
    (value) => {
      if (!Array.isArray(value)) return 'must be a list';
      if (value.length > listEntriesMax) return tooMany(listEntriesMax, 'entries');
      if (value.length < (presence.min ?? 0)) return 'must not be empty';
      const unknown = value.findIndex((one) => !values.includes(one as string));
      return unknown < 0 ? undefined : `has an unknown value at position ${unknown + 1}`;
    },
    presence,
    {
      type: 'array',
      maxItems: listEntriesMax,
      items: { type: 'string', enum: values },
      ...(presence.min === undefined ? {} : { minItems: presence.min }),
    },
  );

export const Flag = (presence: Presence = {}): PropertyDecorator =>
  field((value) => (typeof value === 'boolean' ? undefined : 'must be true or false'), presence, {
    type: 'boolean',
  });

export const Whole = (range: { min: number; max: number } & Presence): PropertyDecorator =>
  field(
    (value) => {
      const { min, max } = range;
      const inside = Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
      return inside ? undefined : `must be a whole number from ${min} to ${max}`;
    },
    range,
    { type: 'integer', minimum: range.min, maximum: range.max },
  );

export const Uuid = (presence: Presence = {}): PropertyDecorator =>
  field((value) => (isUuid(value) ? undefined : 'must be a UUID'), presence, {
    type: 'string',
    format: 'uuid',
  });

export const Instant = (presence: Presence = {}): PropertyDecorator =>
  field(
    (value) => (isInstant(value) ? undefined : 'must be an ISO 8601 time with an offset or Z'),
    presence,
    { type: 'string', format: 'date-time' },
  );

interface MapRule {
  /** Numbers and booleans too. */
  readonly scalars?: boolean;
  readonly nameMax?: number;
  /** Of names and values together, in UTF-8; without it, each value is limited by itself. */
  readonly bytesMax?: number;
}

const holdsNul = (text: string): boolean => text.includes('\0');

/** Apart from each other: a text of a mebibyte is not copied to be measured. */
const bytesOf = ([name, value]: readonly [string, unknown]): number =>
  Buffer.byteLength(name) + Buffer.byteLength(String(value));

/** Names to strings. Counted first, and refused before anything walks what is too much. */
export const StringMap = (rule: Presence & MapRule = {}): PropertyDecorator => {
  const types = rule.scalars ? ['string', 'number', 'boolean'] : ['string'];
  const { nameMax = mapNameMax, bytesMax } = rule;
  const check: Check = (value) => {
    if (!isMembers(value)) return 'must be an object';
    const members = Object.entries(value);
    if (members.length > mapMembersMax) return tooMany(mapMembersMax, 'members');
    const fits = members.every(
      ([name, member]) =>
        types.includes(typeof member) &&
        name !== '' &&
        !holdsNul(name) &&
        !holdsNul(String(member)),
    );
    if (!fits) return `must have only ${list(types)} values, without NUL`;
    if (members.some(([name]) => name.length > nameMax)) {
      return `must have names of at most ${nameMax} characters`;
    }
    if (bytesMax !== undefined) {
      const bytes = members.reduce((sum, pair) => sum + bytesOf(pair), 0);
      return bytes > bytesMax
        ? `must have at most ${bytesMax} bytes of names and values`
        : undefined;
    }
    const isLong = members.some(([, member]) => String(member).length > mapValueMax);
    return isLong ? `must have values of at most ${mapValueMax} characters` : undefined;
  };
  const scalars = types.map((type) => ({ type }));
  const text = { type: 'string', ...(bytesMax === undefined ? { maxLength: mapValueMax } : {}) };
  return field(check, rule, {
    type: 'object',
    maxProperties: mapMembersMax,
    additionalProperties: rule.scalars ? { anyOf: scalars } : text,
  });
};

export const TextList = (presence: Presence = {}): PropertyDecorator =>
  field(
    (value) => {
      if (Array.isArray(value) && value.length > listEntriesMax) {
        return tooMany(listEntriesMax, 'entries');
      }
      const fits = Array.isArray(value) && value.every((one) => typeof one === 'string');
      return fits ? undefined : 'must be a list of strings';
    },
    presence,
    { type: 'array', maxItems: listEntriesMax, items: { type: 'string' } },
  );

/** Any JSON, null too, as it came. */
export const Json = ({
  schema = {},
  ...presence
}: Presence & { schema?: Schema } = {}): PropertyDecorator =>
  field(() => undefined, { ...presence, raw: true }, schema);

export const Nested = (dto: () => Dto, presence: Presence = {}): PropertyDecorator =>
  field((value) => (isMembers(value) ? undefined : 'must be an object'), presence, {}, dto);

export const NestedList = (dto: () => Dto, rule: Presence & { max: number }): PropertyDecorator =>
  field(
    (value) => {
      if (Array.isArray(value) && value.length > rule.max) return tooMany(rule.max, 'entries');
      const fits = Array.isArray(value) && value.every(isMembers);
      return fits ? undefined : 'must be a list of objects';
    },
    rule,
    { type: 'array', maxItems: rule.max },
    dto,
  );

export function isUuid(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value)
  );
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const tooMany = (max: number, what: string): string => `must have at most ${max} ${what}`;

function list(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
