export { waitingLines } from './line-redactions';
export { OpenedValues } from './opened-values';
export { redactorOf, type KnownToRun } from './redact';
export { RunRecording, runsRecorded } from './run-recording';
export { resultOf } from './reactor-response';
export { serviceCalls } from './service-calls';
export { decideReactor, findReactor } from './find-reactor';
export { checkArguments } from './check-arguments';
export {
  invokeReactor,
  type Arguments,
  type InvokedReactor,
  type Invocation,
} from './invoke-reactor';
export {
  insertRun,
  remindOfRuns,
  runPlace,
  runQueue,
  workerAliveKey,
  type NewRun,
} from './accept-run';
export type { RunLog, RunLogEntry, RunRecord } from './run-record';
export { insertEndedRuns, linesPlace, sealLines } from './ended-runs';
export { BatchedRunLog } from './run-log';
export { receiverOf, receiverPathOf, webhookPlace } from './webhook-places';
