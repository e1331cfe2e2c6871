import type { ParameterType, RequestParameter } from '@glovebox/definitions';
import { invalid } from '@glovebox/problems';
import { isJsonObject, numberOf, type JsonObject } from '@glovebox/wire';

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
