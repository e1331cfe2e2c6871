export type * from './api';
export { Glovebox, type GloveboxOptions } from './glovebox';
export { errors, GloveboxError, NoAnswer, type ProblemCode } from './errors';
export type { CallOptions } from './send';
export type { AsyncRun } from './async-run';
