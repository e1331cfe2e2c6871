export type { TlsMaterial } from './dial';
export { createEgress, type Egress } from './egress';
export { hasBeenHere, hopHeader, hopMarkerOf } from './hop-marker';
export { parseEgressPolicy, type EgressPolicy } from './policy';
export { EgressRefused, EgressUnreachable } from './refusal';
