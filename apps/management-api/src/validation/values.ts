import { isUUID } from 'class-validator';

export type Members = Record<string, unknown>;

/** An object of JSON: neither null nor a list. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Accepts any version and variant, in either case. */
export const isUuid = (value: unknown): value is string => isUUID(value, 'loose');
