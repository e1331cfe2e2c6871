import type { Principal } from './principal';

/** The caller that a use or a change is recorded for, and the trace id of the record. */
export interface Actor {
  readonly principal: Principal;
  readonly traceId: string;
}
