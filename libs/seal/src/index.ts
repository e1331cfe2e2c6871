export type { Place } from './envelope';
export { createKeyHash, type KeyHash } from './key-hash';
export { parseKeyRing, UnknownMasterKey, type KeyRing } from './key-ring';
export {
  masterVersionOf,
  openWithRing,
  rewrapDataKey,
  Sealer,
  sealWithRing,
  UnknownSealFormat,
  type WrappedDataKey,
} from './sealer';
