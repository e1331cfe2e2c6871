export { castArguments } from './cast-arguments';
export type { ReactorContext } from './context';
export { findReactor } from './find-reactor';
export {
  invokeReactor,
  readyArguments,
  type Decided,
  type Invocation,
  type ReactorResponse,
} from './invoke-reactor';
export {
  claimRun,
  faultsMax,
  finishRun,
  forgottenRuns,
  insertRun,
  leaseSeconds,
  markStarted,
  releaseRun,
  remindOfRun,
  renewRun,
  runQueue,
  workerAliveKey,
  type ClaimedRun,
  type NewRun,
  type ReleaseReason,
} from './runs';
