import type { Budget } from '../bounds/limits';

export type Argument = string | number | boolean;

/**
 * Makes one value of another, at once or as work. Returns undefined for a value that it cannot
 * take.
 */
export type Change = (value: unknown, budget: Budget) => unknown;
