import { isUUID } from 'class-validator';

/** Accepts any version and variant, in either case. */
export const isUuid = (value: unknown): value is string => isUUID(value, 'loose');
