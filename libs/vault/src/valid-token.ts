import { randomUUID } from 'node:crypto';
import { mustBeDestinations, normalDestinations } from '@glovebox/access';
import { isTokenId, normalTokenId, type Budget } from '@glovebox/expressions';
import { invalid, isShowableName, type ProblemErrors } from '@glovebox/problems';
import { fromWire, isInstant, isJsonObject, wireName } from '@glovebox/wire';
import { isShallow, isShort, mustBeShort } from './document-bounds';
import { derive, readExpressions, type DerivedValues } from './derived-values';
import { tokenMembers, type TokenInput, type TokenOptions } from './token';
import { mustBeType, tokenType, type TokenType } from './token-types';

/** A token that has passed validation. */
export interface ValidToken extends DerivedValues {
  readonly id: string;
  /** True if the caller chose the id. An id made here has never been used. */
  readonly isNamed: boolean;
  readonly type: string;
  readonly container: string;
  readonly data: unknown;
  /** The data as JSON, which is sealed. */
  readonly text: string;
  readonly options: TokenOptions;
  readonly metadata: Readonly<Record<string, string>>;
  readonly destinations: readonly string[] | null;
  readonly expiresAt: Date | null;
  readonly deduplicate: boolean;
}

const tokenBytesMax = 1024 * 1024;
export const searchIndexesMax = 20;
const expressionCharactersMax = 4_096;
const metadataMembersMax = 100;
const metadataNameCharactersMax = 100;
const metadataValueCharactersMax = 1_000;

/** Validates all members: tokens come from callers and from customer code, unchecked. */
export function validateToken(input: TokenInput, budget?: Budget): ValidToken {
  const errors: Errors = {};
  const given = withoutNulls(input);
  const { id, type = 'token', data } = given;
  const kind = tokenType(type);
  if (!kind) throw invalid(unknownType);
  if (id !== undefined && !isTokenIdText(id)) {
    errors.id = [
      'must be 3 to 400 characters without white space and # / \\ + ? [ ] | & = % < > { } ^',
    ];
  }
  const text = textOf(data, 'data', errors);
  if (text !== undefined) Object.assign(errors, kind.faultsOf(data));
  const asked = askedFor(given, kind, errors);
  refuse(errors);
  const derived = derive(kind, data, asked.options, errors, budget);
  refuse(errors);
  return {
    id: typeof id === 'string' ? normalTokenId(id) : randomUUID(),
    isNamed: typeof id === 'string',
    type: String(type),
    data,
    text: text ?? 'null',
    ...asked,
    ...derived,
  };
}

/** Returns the errors of a token in JSON whose data will be known later. */
export function faultsWithoutData(json: object): ProblemErrors {
  const errors: Errors = {};
  const given = withoutNulls(fromWire(tokenMembers, json));
  const kind = tokenType(given.type ?? 'token');
  if (!kind) return unknownType;
  // A time in the future may have passed by then.
  const { options } = askedFor(given, kind, errors, -Infinity);
  readExpressions(options, errors);
  return asCallersName(errors);
}

const unknownType = { type: [mustBeType] };

/** Validates all members but `id` and `data`. */
function askedFor(given: TokenInput, kind: TokenType, errors: Errors, now = Date.now()) {
  const { containers = [], metadata = {}, deduplicateToken: deduplicate = false } = given;
  const container = containerOf(containers, kind.container, errors);
  if (!isMetadata(metadata)) {
    errors.metadata = [
      `must be an object of at most ${metadataMembersMax} strings without NUL, each of at most ` +
        `${metadataValueCharactersMax} characters under a name of at most ${metadataNameCharactersMax}` +
        unlike(metadata),
    ];
  }
  const expiresAt = expiryOf(given.expiresAt, now, errors);
  const destinations = destinationsIn(given.destinations, errors);
  if (typeof deduplicate !== 'boolean') errors.deduplicateToken = ['must be true or false'];
  return {
    container,
    metadata: metadata as Record<string, string>,
    destinations,
    expiresAt,
    deduplicate: deduplicate === true,
    options: optionsOf(given, errors),
  };
}

/** Callers know the members of a token by their names in JSON. */
function asCallersName(errors: ProblemErrors): ProblemErrors {
  const named = Object.entries(errors).map(
    ([member, faults]) => [wireName(member), faults] as const,
  );
  return Object.fromEntries(named);
}

function refuse(errors: ProblemErrors): void {
  if (Object.keys(errors).length > 0) throw invalid(asCallersName(errors));
}

/** An optional member that is null counts as absent. Null is valid data. */
function withoutNulls(input: TokenInput): TokenInput {
  const given = Object.entries(input).filter(([name, value]) => value !== null || name === 'data');
  return Object.fromEntries(given) as TokenInput;
}

function isTokenIdText(value: unknown): value is string {
  return typeof value === 'string' && isTokenId(value);
}

type Errors = Record<string, readonly string[]>;

/**
 * Returns the value as JSON. Adds an error if it is missing, or too large in bytes, depth or
 * values.
 */
function textOf(value: unknown, name: string, errors: Errors): string | undefined {
  if (value === undefined) {
    errors[name] = ['is required'];
    return undefined;
  }
  if (!isShallow(value)) {
    errors[name] = ['is nested too deep'];
    return undefined;
  }
  if (!isShort(value)) {
    errors[name] = [mustBeShort];
    return undefined;
  }
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) errors[name] = ['must be JSON'];
  else if (Buffer.byteLength(text) > tokenBytesMax)
    errors[name] = ['must be at most 1 MiB as JSON'];
  return errors[name] ? undefined : text;
}

/** `/a/b/`: segments with a slash before, between and after them. */
function isContainer(text: unknown): text is string {
  return typeof text === 'string' && /^\/(?:[A-Za-z0-9_-]+\/)*$/.test(text) && text.length <= 200;
}

function containerOf(value: unknown, fallback: string, errors: Errors): string {
  const list = Array.isArray(value) ? (value as unknown[]) : [null];
  const [first = fallback] = list;
  if (list.length > 1) errors.containers = ['must name at most one container'];
  else if (isContainer(first)) return first.toLowerCase();
  else errors.containers = ['must be a path of letters, digits, _ and -, such as /pci/high/'];
  return fallback;
}

/** Postgres stores neither NUL nor half a surrogate pair. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function isMetadata(value: unknown): value is Record<string, string> {
  if (!isJsonObject(value)) return false;
  const members = Object.entries(value);
  return members.length <= metadataMembersMax && members.every(isMetadataMember);
}

function isMetadataMember([name, member]: readonly [string, unknown]): boolean {
  return (
    name !== '' &&
    name.length <= metadataNameCharactersMax &&
    isStorable(name) &&
    typeof member === 'string' &&
    member.length <= metadataValueCharactersMax &&
    isStorable(member)
  );
}

/** Names the first member that is wrong, where its name may be shown. */
function unlike(metadata: unknown): string {
  const members = isJsonObject(metadata) ? Object.entries(metadata) : [];
  const [name = ''] = members.find((one) => !isMetadataMember(one)) ?? [];
  return isShowableName(name) ? `, unlike \`${name}\`` : '';
}

function destinationsIn(value: unknown, errors: Errors): readonly string[] | null {
  if (value === undefined) return null;
  const normal = normalDestinations(value);
  if (!normal) errors.destinations = [mustBeDestinations];
  return normal ?? null;
}

function expiryOf(value: unknown, now: number, errors: Errors): Date | null {
  if (value === undefined) return null;
  const at = new Date(isInstant(value) ? value : Number.NaN);
  if (!(at.getTime() > now)) {
    errors.expiresAt = ['must be an ISO 8601 time in the future, with an offset or Z'];
  }
  return at;
}

/** Requires an expression: with a constant in its place, all tokens would have one fingerprint. */
function holdsExpression(text: unknown): boolean {
  if (typeof text !== 'string' || text.length > expressionCharactersMax) return false;
  const from = text.indexOf('{{');
  return from >= 0 && text.includes('}}', from + 2);
}

function optionsOf(given: TokenInput, errors: Errors): TokenOptions {
  const { mask, searchIndexes: indexes, fingerprintExpression: expression } = given;
  if (mask !== undefined) textOf(mask, 'mask', errors);
  const isList =
    Array.isArray(indexes) &&
    indexes.length <= searchIndexesMax &&
    indexes.every((one) => typeof one === 'string' && one.length <= expressionCharactersMax);
  if (indexes !== undefined && !isList) {
    errors.searchIndexes = [
      `must be a list of at most ${searchIndexesMax} strings of at most ${expressionCharactersMax} characters`,
    ];
  }
  if (expression !== undefined && !holdsExpression(expression)) {
    errors.fingerprintExpression = [
      `must be a string with at least one expression over data, of at most ${expressionCharactersMax} characters`,
    ];
  }
  return {
    ...(mask === undefined ? {} : { mask }),
    ...(isList && indexes.length > 0 ? { searchIndexes: indexes as string[] } : {}),
    ...(typeof expression === 'string' ? { fingerprintExpression: expression } : {}),
  };
}
