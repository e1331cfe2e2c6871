export { castArguments } from './cast-arguments';
export type { ReactorContext } from './context';
export {
  invokeReactor,
  readyArguments,
  type Invocation,
  type ReactorResponse,
} from './invoke-reactor';
export {
  claimRun,
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
} from './runs';
