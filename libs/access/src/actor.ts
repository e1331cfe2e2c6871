import type { Principal } from './principal';

/** The caller whom a use or a change is recorded for, and the trace id that it is recorded under. */
export interface Actor {
  readonly principal: Principal;
  readonly traceId: string;
}
