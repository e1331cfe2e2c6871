import type { ProxyDefinition, StepToken, TransformStep } from '@glovebox/definitions';
import { appendedTemplate, memberPath, parseJsonPath, placeTemplate } from '@glovebox/expressions';
import { invalid, Problem } from '@glovebox/problems';
import type { Place, Sealer } from '@glovebox/seal';
import {
  isJsonObject,
  isReservedHeader,
  type JsonObject,
  type ServiceHeaders,
} from '@glovebox/wire';
import { faultsWithoutData } from '@glovebox/vault';

/** The steps of a proxy, in the form of its definition. */
export type Steps = Pick<ProxyDefinition, 'requestSteps' | 'responseSteps'>;

export const withoutSteps: Steps = { requestSteps: [], responseSteps: [] };

interface StepsInput {
  readonly request_transforms?: unknown;
  readonly response_transforms?: unknown;
}

type StepsMember = keyof StepsInput;

export const stepsMax = 20;
export const stepPathMax = 200;
export const stepExpressionMax = 4_096;
export const stepNameMax = 200;
export const stepValueMax = 1_000;
/** Bytes of a value for the body, and of a token. */
const stepJsonBytesMax = 10 * 1024;

/** Reads the steps of a document, each with its declared members alone, or throws all faults. */
export function toSteps(input: StepsInput, ours: ServiceHeaders): Steps {
  const errors: Record<string, readonly string[]> = {};
  const read = (member: StepsMember): TransformStep[] =>
    readSteps(input[member] ?? [], { member, ours, errors });
  const steps = {
    requestSteps: read('request_transforms'),
    responseSteps: read('response_transforms'),
  };
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return steps;
}

/** What a step does as the application of its proxy. Undefined: nothing. */
export function whyActs({ requestSteps, responseSteps }: Steps): string | undefined {
  if ([...requestSteps, ...responseSteps].some(({ type }) => type === 'tokenize')) {
    return 'tokenizes';
  }
  const isFilledIn = requestSteps.some(
    ({ type, options }) =>
      type === 'append' && appendedTemplate(options.location, options.value) !== undefined,
  );
  return isFilledIn ? 'appends an expression' : undefined;
}

interface Reading {
  readonly member: StepsMember;
  readonly ours: ServiceHeaders;
  readonly errors: Record<string, readonly string[]>;
}

function readSteps(list: unknown, reading: Reading): TransformStep[] {
  const { member, errors } = reading;
  if (!Array.isArray(list) || !list.every(isJsonObject))
    errors[member] = ['must be a list of objects'];
  else if (list.length > stepsMax) errors[member] = [`must have at most ${stepsMax} entries`];
  else
    return list.flatMap((step, at) => readStep(step, new Step(`${member}.${at}`, reading)) ?? []);
  return [];
}

function readStep(written: JsonObject, step: Step): TransformStep | undefined {
  const { type, options, required } = written;
  if (typeof type !== 'string' || !Object.hasOwn(readers, type)) {
    return step.fault('type', `must be ${Object.keys(readers).join(', ')}`);
  }
  if (type === 'detokenize' && !step.isOfRequest) {
    return step.fault('type', 'is for request_transforms alone');
  }
  if (!isJsonObject(options)) return step.fault('options', 'must be an object');
  // It is taken in both places: a step that ignored it would let out what it is there to hide.
  const isRequired = [
    step.flag('required', required),
    step.flag('options.required', options.required),
  ];
  const read = readers[type as TransformStep['type']](options, step);
  if (read === undefined || !isRequired.includes(true)) return read;
  if (!('path' in read.options)) return step.fault('options.required', 'is for steps with a path');
  return { ...read, options: { ...read.options, required: true } } as TransformStep;
}

type Read = (options: JsonObject, step: Step) => TransformStep | undefined;

const readers: Readonly<Record<TransformStep['type'], Read>> = {
  mask(options, step) {
    const path = step.path(options);
    const expression = step.text(options, 'expression', stepExpressionMax);
    if (expression !== undefined && !isExpression(expression, step)) return undefined;
    if (path === undefined || expression === undefined) return undefined;
    return { type: 'mask', options: { path, expression } };
  },
  tokenize(options, step) {
    const path = step.path(options);
    const token = readToken(options.token, step);
    return path === undefined || !token
      ? undefined
      : { type: 'tokenize', options: { path, token } };
  },
  detokenize(options, step) {
    const path = step.path(options);
    if (options.enabled !== false) return step.fault('options.enabled', 'must be false');
    return path === undefined
      ? undefined
      : { type: 'detokenize', options: { path, enabled: false } };
  },
  append(options, step) {
    const location = step.location(options);
    if (location === 'body') {
      const path = step.path(options);
      if (path !== undefined && path !== '$' && !endsInMember(path)) {
        return step.fault('options.path', 'must be $ or end in the name of a member');
      }
      const value = step.json(options, 'value');
      if (path === undefined || value === undefined || !isFillable(location, value, step)) {
        return undefined;
      }
      return { type: 'append', options: { location, path, value } };
    }
    const name = location && step.nameIn(location, options);
    const value = location && step.text(options, 'value', stepValueMax, { min: 0 });
    if (location === undefined || name === undefined || value === undefined) return undefined;
    if (location === 'header' && !isHeaderValue(value)) {
      return step.fault('options.value', 'must be Latin-1 without control characters');
    }
    if (!isFillable(location, value, step)) return undefined;
    return { type: 'append', options: { location, name, value } };
  },
  remove(options, step) {
    const location = step.location(options);
    if (location === 'body') {
      const path = step.path(options);
      if (path === '$') return step.fault('options.path', 'must lead to a part of the body');
      return path === undefined ? undefined : { type: 'remove', options: { location, path } };
    }
    const name = location && step.nameIn(location, options);
    return location === undefined || name === undefined
      ? undefined
      : { type: 'remove', options: { location, name } };
  },
};

const locations = ['header', 'query', 'body'] as const;
type Location = (typeof locations)[number];

/** A step that is being read. It notes faults under the path of their member. */
class Step {
  constructor(
    private readonly at: string,
    private readonly reading: Reading,
  ) {}

  get isOfRequest(): boolean {
    return this.reading.member === 'request_transforms';
  }

  fault(member: string, message: string): undefined {
    this.reading.errors[`${this.at}.${member}`] = [message];
  }

  /** True only for true. A wrong value is a fault. */
  flag(member: string, value: unknown): boolean {
    if (value !== undefined && value !== null && typeof value !== 'boolean') {
      this.fault(member, 'must be true or false');
    }
    return value === true;
  }

  text(options: JsonObject, name: string, max: number, { min = 1 } = {}): string | undefined {
    const value = options[name];
    const member = `options.${name}`;
    if (value === undefined || value === null) return this.fault(member, 'is required');
    if (typeof value !== 'string') return this.fault(member, 'must be a string');
    if (value.length < min) return this.fault(member, 'must not be empty');
    if (value.length > max) return this.fault(member, `must be at most ${max} characters`);
    if (!value.isWellFormed()) return this.fault(member, 'has half a surrogate pair');
    return value;
  }

  path(options: JsonObject): string | undefined {
    const path = this.text(options, 'path', stepPathMax);
    if (path === undefined || parseJsonPath(path)) return path;
    return this.fault('options.path', 'must be a JSONPath such as $.card.number');
  }

  /** Returns any JSON, null included. */
  json(options: JsonObject, name: string): unknown {
    const value = Object.hasOwn(options, name) ? options[name] : undefined;
    if (value === undefined) return this.fault(`options.${name}`, 'is required');
    if (Buffer.byteLength(JSON.stringify(value)) <= stepJsonBytesMax) return value;
    return this.fault(`options.${name}`, `must be at most ${stepJsonBytesMax} bytes of JSON`);
  }

  location({ location }: JsonObject): Location | undefined {
    const known = locations.filter((one) => one !== 'query' || this.isOfRequest);
    const found = known.find((one) => one === location);
    return found ?? this.fault('options.location', `must be ${known.join(', ')}`);
  }

  nameIn(location: 'header' | 'query', options: JsonObject): string | undefined {
    const name = this.text(options, 'name', stepNameMax);
    if (name === undefined) return undefined;
    const { ours } = this.reading;
    const lower = name.toLowerCase();
    const isForUs =
      location === 'header'
        ? isReservedHeader(lower) || ours.isOurs(lower)
        : ours.spellingsOf('proxy-key').includes(lower);
    if (isForUs) return this.fault('options.name', 'is not for a transform to change');
    if (location === 'header' && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      return this.fault('options.name', 'must be the name of a header');
    }
    return name;
  }
}

const isExpression = (text: string, step: Step): boolean =>
  isReadable(() => placeTemplate(text), 'options.expression', step);

/** In an answer `{{ }}` is text: no step gives data to the caller. */
const isFillable = (location: Location, value: unknown, step: Step): boolean =>
  !step.isOfRequest || isReadable(() => appendedTemplate(location, value), 'options.value', step);

function isReadable(read: () => unknown, member: string, step: Step): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    step.fault(member, error.message);
    return false;
  }
}

function endsInMember(path: string): boolean {
  const steps = parseJsonPath(path);
  return steps !== undefined && memberPath(steps) !== undefined;
}

const isHeaderValue = (value: string): boolean => /^[\x20-\x7e\xa0-\xff]*$/.test(value);

const tokenMembers = [
  'containers',
  'mask',
  'metadata',
  'destinations',
  'search_indexes',
  'fingerprint_expression',
  'deduplicate_token',
  'expires_at',
] as const;

/** Accepts the members of `POST /tokens`, without id and data. */
function readToken(value: unknown, step: Step): StepToken | undefined {
  if (!isJsonObject(value)) return step.fault('options.token', 'must be an object');
  const type = value.type ?? 'token';
  const given = tokenMembers.filter((name) => Object.hasOwn(value, name) && value[name] !== null);
  const token = { type, ...Object.fromEntries(given.map((name) => [name, value[name]])) };
  if (step.json({ token }, 'token') === undefined) return undefined;
  const faults = Object.entries(faultsWithoutData(token));
  for (const [name, [message = '']] of faults) step.fault(`options.token.${name}`, message);
  return faults.length > 0 ? undefined : (token as StepToken);
}

export function sealSteps(sealer: Sealer, place: Place, steps: Steps): Promise<Buffer> {
  return sealer.seal(place, JSON.stringify(steps));
}

export async function openSteps(sealer: Sealer, place: Place, sealed: Buffer): Promise<Steps> {
  return JSON.parse((await sealer.open(place, sealed)).toString('utf8')) as Steps;
}
