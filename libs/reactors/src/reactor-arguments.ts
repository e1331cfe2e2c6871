import type { Principal } from '@glovebox/access';
import type {
  FormulaDefinition,
  ParameterType,
  ReactorDefinition,
  RequestParameter,
} from '@glovebox/definitions';
import { valueTemplate, type Budget, type Template } from '@glovebox/expressions';
import { invalid } from '@glovebox/problems';
import type { Arguments } from '@glovebox/runs';
import { OpeningBudget, Reach, type Sights, type Use } from '@glovebox/vault';
import { isJsonObject, numberOf, type JsonObject } from '@glovebox/wire';
import type { ReactorContext } from './context';

/** A call of a reactor, as far as its arguments depend on it. */
export interface ReactorCall {
  readonly reactor: ReactorDefinition;
  readonly formula: FormulaDefinition;
  /** The invoking application. Tokens in the arguments are used under its grants. */
  readonly caller: Principal;
  readonly args: Arguments;
  readonly traceId: string;
  /** Remembers what the answer may show of tokens, where it is kept. */
  readonly sights?: Sights | undefined;
  /** The caller uses no tokens: expressions stay as they are. */
  readonly keepsExpressions?: boolean;
  /** Limits what the arguments of one request may expand to beside other requests. */
  readonly budget?: Budget | undefined;
}

/**
 * Makes every check of the arguments that needs no data: expressions, parameters that no token
 * decides on, and what the caller may use. A run that is accepted now opens the data when it
 * starts, and that is the one record of a use. Arguments that are one text are opened: nothing else
 * says whether they are an object. Returns the ids of the tokens.
 */
export async function checkArguments(
  context: Pick<ReactorContext, 'vault'>,
  call: ReactorCall,
): Promise<readonly string[]> {
  const { args } = call;
  if (typeof args === 'string') {
    return (await readyArguments(context, call, 'reactor.accept', new Reach())).tokenIds;
  }
  const { tokenIds } = valueTemplate(args);
  const decided = call.formula.requestParameters.filter(
    ({ name }) => !dependsOnTokens(args, name.split('.')),
  );
  castArguments(decided, args);
  const use = useOfTokens('reactor.accept', call);
  await context.vault.foresee(call.caller, use, tokenIds, new Reach());
  return tokenIds;
}

/** True if the value at the path, or an object on the way to it, comes from a token. */
function dependsOnTokens(args: unknown, path: readonly string[]): boolean {
  let value = args;
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return false;
    value = value[name];
    if (typeof value === 'string') return valueTemplate(value).tokenIds.length > 0;
  }
  return false;
}

type OperationOnArguments = 'reactor.invoke' | 'reactor.accept' | 'reactor.dry_run';

interface ReadyArguments {
  readonly args: Readonly<Record<string, unknown>>;
  readonly detokenized: Readonly<Record<string, unknown>>;
  readonly data: readonly unknown[];
  readonly tokenIds: readonly string[];
}

/**
 * Detokenizes, checks and casts the arguments. Also returns them uncast, and the data in them, and
 * narrows `reach` to where all of it may go. Without expressions it needs no promise.
 */
export function readyArguments(
  context: Pick<ReactorContext, 'vault'>,
  call: ReactorCall,
  operation: OperationOnArguments,
  reach: Reach,
): ReadyArguments | Promise<ReadyArguments> {
  const template = valueTemplate(call.args);
  const { tokenIds } = template;
  // An expression begins with a token: without any, the arguments are as they were sent.
  if (tokenIds.length > 0 && !call.keepsExpressions) {
    return openArguments(context, call, template, { operation, reach });
  }
  const detokenized = objectOf(call.args);
  const args = castArguments(call.formula.requestParameters, detokenized);
  return { args, detokenized, data: [], tokenIds: call.keepsExpressions ? [] : tokenIds };
}

async function openArguments(
  { vault }: Pick<ReactorContext, 'vault'>,
  call: ReactorCall,
  template: Template<unknown>,
  { operation, reach }: { readonly operation: OperationOnArguments; readonly reach: Reach },
): Promise<ReadyArguments> {
  const { reactor, caller, traceId, budget, sights } = call;
  const use = useOfTokens(operation, { reactor, caller, traceId });
  const opening = new OpeningBudget(budget?.keep);
  const values = await vault.detokenize(caller, use, template.tokenIds, reach, opening, sights);
  const detokenized = objectOf(await template.renderInSlices(values, budget));
  const args = castArguments(call.formula.requestParameters, detokenized);
  return { args, detokenized, data: [...values.values()], tokenIds: [...template.tokenIds] };
}

function objectOf(args: unknown): JsonObject {
  if (!isJsonObject(args)) throw invalid({ args: ['must be an object'] });
  return args;
}

/** The line of the audit log about the tokens in the arguments. */
function useOfTokens(
  operation: OperationOnArguments,
  { reactor, caller, traceId }: Pick<ReactorCall, 'reactor' | 'caller' | 'traceId'>,
): Use {
  return {
    tenantId: reactor.tenantId,
    actorId: caller.actorId,
    operation,
    entityType: 'reactor',
    entityId: reactor.id,
    traceId,
  };
}

/**
 * Checks and casts detokenized arguments against the request parameters of the formula
 * (docs/reference/invocation.md, A1 to A9). Without parameters, every argument passes.
 */
export function castArguments(
  parameters: readonly RequestParameter[],
  args: Readonly<JsonObject>,
): Readonly<JsonObject> {
  if (parameters.length === 0) return args;
  const errors: Record<string, string[]> = {};
  const accepted: JsonObject = {};
  // Shorter names first: `user` keeps all below it, then `user.age` casts one part of that.
  const ordered = [...parameters].sort((a, b) => a.name.length - b.name.length);
  for (const { name, type, optional } of ordered) {
    const path = name.split('.');
    const value = valueAt(args, path);
    if (value === undefined || value === null) {
      if (!optional) errors[`args.${name}`] = ['is required'];
      removeAt(accepted, path);
      continue;
    }
    const cast = castTo[type](value);
    if (cast === undefined) errors[`args.${name}`] = [`must be ${named[type]}`];
    else putAt(accepted, path, cast);
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return accepted;
}

const named: Record<ParameterType, string> = {
  number: 'a number',
  boolean: 'a boolean',
  string: 'a string',
  object: 'an object',
};

/** Returns undefined for a value that cannot be cast: docs/reference/invocation.md, A6. */
const castTo: Record<ParameterType, (value: unknown) => unknown> = {
  number(value) {
    // JSON.parse reads a number beyond the range of a double as Infinity, which no JSON carries.
    if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
    return typeof value === 'string' ? numberOf(value) : undefined;
  },
  boolean(value) {
    if (typeof value === 'boolean') return value;
    const word = typeof value === 'string' ? value.toLowerCase() : '';
    return word === 'true' ? true : word === 'false' ? false : undefined;
  },
  string(value) {
    if (typeof value === 'string') return value;
    return Number.isFinite(value) || typeof value === 'boolean' ? String(value) : undefined;
  },
  object: (value) => (isJsonObject(value) ? copyOf(value) : undefined),
};

export function valueAt(args: Readonly<JsonObject>, path: readonly string[]): unknown {
  let value: unknown = args;
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function putAt(target: JsonObject, path: readonly string[], value: unknown): void {
  const parents = path.slice(0, -1);
  const last = path.at(-1) ?? '';
  let parent = target;
  for (const name of parents) {
    const next = Object.hasOwn(parent, name) ? parent[name] : undefined;
    if (isJsonObject(next)) parent = next;
    else parent = setOwn(parent, name, {});
  }
  setOwn(parent, last, value);
}

function removeAt(target: JsonObject, path: readonly string[]): void {
  const parent = valueAt(target, path.slice(0, -1));
  if (isJsonObject(parent)) delete parent[path.at(-1) ?? ''];
}

/** Token data may have a member called `__proto__`: it must stay a member. */
function setOwn<Value>(target: JsonObject, name: string, value: Value): Value {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return value;
}

/** Copies every level, so that casting a part never changes the caller's objects. */
function copyOf(value: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    setOwn(copy, name, isJsonObject(member) ? copyOf(member) : member);
  }
  return copy;
}
