export type JsonObject = Record<string, unknown>;

/** Whether the value is an object of JSON: neither null nor a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const numberLiteral = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Reads text that is a number as JSON writes it, with blanks around it or not. */
export function jsonNumberOf(text: string): number | undefined {
  const number = numberLiteral.test(text.trim()) ? Number(text) : Infinity;
  return Number.isFinite(number) ? number : undefined;
}
