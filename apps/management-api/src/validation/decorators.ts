import { NotContains, ValidateBy, type ValidationOptions } from 'class-validator';
import { isShowableName } from '@glovebox/problems';
import { isInstant, isJsonObject } from '@glovebox/wire';
import { mapMembersMax, mapNameMax, mapValueMax } from './resource-limits';
import { choice } from './messages';

// The rules that class-validator cannot express. DTOs use its own decorators for all others.

/** Postgres cannot store NUL in text. */
export const WithoutNul = (): PropertyDecorator =>
  NotContains('\0', { message: 'must not contain NUL' });

/**
 * Counts UTF-16 code units. `Length` of class-validator counts an emoji with its variation
 * selector as one character, and so lets a text through that is three times as long.
 */
export const TextLength = (
  min: 0 | 1,
  max: number,
  options?: ValidationOptions,
): PropertyDecorator =>
  ValidateBy(
    {
      name: 'textLength',
      constraints: [min, max],
      validator: {
        validate: (value) =>
          typeof value === 'string' && value.length >= min && value.length <= max,
        defaultMessage: (args) =>
          args?.value === '' ? 'must not be empty' : `must be at most ${max} characters`,
      },
    },
    options,
  );

/** An ISO 8601 time. `IsISO8601` of class-validator accepts one without an offset. */
export const IsInstant = (): PropertyDecorator =>
  ValidateBy({
    name: 'isInstant',
    validator: {
      validate: isInstant,
      defaultMessage: () => 'must be an ISO 8601 time with an offset or Z',
    },
  });

/** Any JSON, null included. It stays as it came: nothing copies it or looks into it. */
export const IsAnyJson = (): PropertyDecorator =>
  ValidateBy({ name: 'isAnyJson', validator: { validate: (value) => value !== undefined } });

/**
 * In a POST or PUT, an object in which all members of these names are missing, null or empty counts as absent.
 * It is read as `{}`.
 * A PATCH refuses it, so that nothing that protects data goes by accident.
 */
export const NoneWithout = (...names: readonly string[]): PropertyDecorator =>
  ValidateBy({ name: 'noneWithout', constraints: [...names], validator: { validate: () => true } });

export interface StringMapRule {
  /** Numbers and booleans are values too. */
  readonly scalars?: boolean;
  /** So is null. */
  readonly nulls?: boolean;
  readonly nameMax?: number;
  /** UTF-8 bytes of all names and values. Without it, each value has its own limit. */
  readonly bytesMax?: number;
}

/** An object of strings under any names. It stays as it came. */
export const IsStringMap = (rule: StringMapRule = {}): PropertyDecorator =>
  ValidateBy({
    name: 'isStringMap',
    constraints: [rule],
    validator: {
      validate: (value) => mapFault(value, rule) === undefined,
      defaultMessage: (args) => mapFault(args?.value, rule) ?? '',
    },
  });

/** Counts the members first, so that nothing walks through too many. */
function mapFault(value: unknown, rule: StringMapRule): string | undefined {
  if (!isJsonObject(value)) return 'must be an object';
  const members = Object.entries(value);
  if (members.length > mapMembersMax) return `must have at most ${mapMembersMax} members`;
  const types = rule.scalars ? ['string', 'number', 'boolean'] : ['string'];
  const wrong = members.find(
    ([name, member]) =>
      !(types.includes(typeof member) || (rule.nulls && member === null)) ||
      name === '' ||
      holdsNul(name) ||
      holdsNul(String(member)),
  );
  if (wrong) {
    const [name] = wrong;
    const unlike = isShowableName(name) ? `, unlike \`${name}\`` : '';
    return `must have only ${choice(types)} values, without NUL${unlike}`;
  }
  const { nameMax = mapNameMax, bytesMax } = rule;
  if (members.some(([name]) => name.length > nameMax)) {
    return `must have names of at most ${nameMax} characters`;
  }
  if (bytesMax === undefined) {
    const isLong = members.some(([, member]) => String(member).length > mapValueMax);
    return isLong ? `must have values of at most ${mapValueMax} characters` : undefined;
  }
  const bytes = members.reduce((sum, member) => sum + bytesOf(member), 0);
  return bytes > bytesMax ? `must have at most ${bytesMax} bytes of names and values` : undefined;
}

const holdsNul = (text: string): boolean => text.includes('\0');

/** Measures name and value one by one, so that a value of a mebibyte is not copied. */
const bytesOf = ([name, value]: readonly [string, unknown]): number =>
  Buffer.byteLength(name) + Buffer.byteLength(String(value));
