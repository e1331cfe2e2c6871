export { castArguments } from './cast-arguments';
export type { ReactorContext } from './context';
export { OpenedValues } from './opened-values';
export { redactorOf } from './redact';
export { resultOf } from './reactor-response';
export { serviceCalls } from './service-calls';
export { findReactor } from './find-reactor';
export {
  invokeReactor,
  readyArguments,
  type Decided,
  type Invocation,
  type ReactorResponse,
} from './invoke-reactor';
export {
  deleteOldRuns,
  faultsMax,
  finishRun,
  insertRun,
  leaseSeconds,
  markStarted,
  openRun,
  releaseRun,
  remindOfRuns,
  renewRun,
  runQueue,
  takeBackSilentRuns,
  takeRun,
  tenantsWithDueRuns,
  workerAliveKey,
  type ClaimedRun,
  type NewRun,
  type ReleaseReason,
  type TakenRun,
} from './runs';
