import { FrameError, type JsonObject } from './frames';

/** Members of what came from another process. Each function throws a FrameError at a wrong one. */
export function textOf(body: JsonObject, name: string): string {
  const value = body[name];
  if (typeof value !== 'string') throw new FrameError(`${name} is not a string`);
  return value;
}

const nameLengthMax = 64;

/** The name of a method or of a level. */
export function nameOf(body: JsonObject, name: string): string {
  const text = textOf(body, name);
  if (text.length > nameLengthMax) throw new FrameError(`${name} is too long`);
  return text;
}

export function positiveOf(body: JsonObject, name: string): number {
  const value = body[name];
  if (!isWhole(value, 1, Number.MAX_SAFE_INTEGER)) {
    throw new FrameError(`${name} is not a positive whole number`);
  }
  return value;
}

export function objectOf(value: unknown, name: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FrameError(`${name} is not an object`);
  }
  return value as JsonObject;
}

export function textsOf(value: unknown, name: string): Record<string, string> {
  const texts = objectOf(value, name);
  if (Object.values(texts).some((text) => typeof text !== 'string')) {
    throw new FrameError(`${name} holds something else than strings`);
  }
  return texts as Record<string, string>;
}

export function oneOf<const Known extends string>(
  known: readonly Known[],
  value: unknown,
  name: string,
): Known {
  const found = known.find((candidate) => candidate === value);
  if (found === undefined) throw new FrameError(`${name} is unknown`);
  return found;
}

export function isWhole(value: unknown, least: number, most: number): value is number {
  return (
    typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
  );
}
