export { chosenUrlMax } from './chosen-url';
export type { TlsMaterial } from './dial';
export { createEgress, type Egress } from './egress';
export { hasBeenHere, hopHeader, hopMarkerOf } from './hop-marker';
export { ownNamesBy } from './names/resolve';
export { egressPolicyOf, type EgressPolicy } from './policy';
export { tlsReasonOf } from './reasons';
export { askResolvers, findOpenWays } from './self-test';
export { EgressRefused, EgressUnreachable } from './refusal';
