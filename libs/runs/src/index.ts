export {
  claimDeliveries,
  claimDelivery,
  claimStepsMax,
  receiverDeliveriesMax,
  retryPlacesMax,
} from './claim-delivery';
export { codeIdOf } from './code-id';
export { codePlace, readCodeText } from './code-texts';
export { deleteCodeTexts, dropOldDeliveries, dropOldRuns, forgetFailingPaths } from './deletions';
export {
  attemptMs,
  attemptsListedMax,
  countAttempt,
  givePlaceBack,
  openDelivery,
  receiverOf,
  recordVerdict,
  takeBackPlaces,
  webhookPlace,
  type Attempt,
  type ClaimedDelivery,
  type OpenedDelivery,
  type Verdict,
} from './delivery-queue';
export {
  insertEndedRuns,
  recordWithoutCode,
  RunLog,
  sealTexts,
  textPlace,
  type RunLogEntry,
  type RunReason,
  type RunRecord,
} from './ended-runs';
export {
  deliveriesById,
  deliveryStatuses,
  endedDeliveries,
  findDelivery,
  findDeliveryIds,
  type DeliveryRow,
  type DeliveryStatus,
} from './find-deliveries';
export {
  findResult,
  findRun,
  findRunIds,
  readResult,
  runKinds,
  runsById,
  runStatuses,
  webhookOfRun,
  type ResultRow,
  type RunQuery,
  type RunRow,
  type WholeRunRow,
} from './find-runs';
export {
  failHeld,
  heldByTenant,
  holdAfterLoss,
  holdAlone,
  holdQueues,
  releaseHeld,
  type HeldCounts,
  type HeldOfTenant,
} from './held-rows';
export { openKeptRun, type Keeping, type KeptRun } from './kept-arguments';
export {
  addListener,
  endListener,
  leaseOfListenerMs,
  listenersWithNews,
  nextPart,
  partMax,
  renewListener,
  unheardMax,
  type ListenedWebhook,
  type Listener,
} from './listeners';
export { remindOfRuns, runQueue, workerAliveKey } from './reminders';
export { replayableDeliveries, requeue, requeueable, sendNow } from './replay-deliveries';
export type { Arguments } from './run-columns';
export {
  claimRuns,
  fateOfUnopened,
  faultsMax,
  finishRun,
  givenUp,
  insertRun,
  leaseSeconds,
  markStarted,
  openRun,
  queuedMsOf,
  releaseRun,
  renewRun,
  takeBackSilentRuns,
  type ClaimedRun,
  type EndOfRun,
  type OpenedRun,
  type ReleaseReason,
} from './run-queue';
export { signingSecrets, webhookHeaders } from './sign-webhook';
export {
  countedRowsMax,
  countWaiting,
  depthOf,
  queueOfTenant,
  tenantsWithDueRows,
  type QueueDepth,
  type QueueName,
  type TenantQueue,
} from './waiting-rows';
export { deleteOldRepetitions, recordRepetition } from './repetitions';
