export type JsonObject = Record<string, unknown>;

/** Whether the value is an object of JSON: neither null nor a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const typedNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Reads a decimal number as people type it: with leading zeros, a sign, or blanks around it. */
export function numberOf(text: string): number | undefined {
  const number = typedNumber.test(text.trim()) ? Number(text) : Infinity;
  return Number.isFinite(number) ? number : undefined;
}
