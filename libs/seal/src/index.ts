export { SealBroken, type Place } from './envelope';
export { createKeyHash, type KeyHash } from './key-hash';
export { parseKeyRing, UnknownMasterKey, type KeyRing } from './key-ring';
export {
  openWithRing,
  Sealer,
  sealWithRing,
  type DataKeyStore,
  type WrappedDataKey,
} from './sealer';
