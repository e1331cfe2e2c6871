export type { DialTarget, TlsMaterial } from './dial';
export { createEgress, type Egress, type EgressParts } from './egress';
export { hasBeenHere, hopHeader, hopMarkerOf } from './hop-marker';
export { parseEgressPolicy, type EgressPolicy, type EgressSettings } from './policy';
export type { Post, Posted } from './post';
export { EgressRefused, EgressUnreachable, type RefusalReason } from './refusal';
