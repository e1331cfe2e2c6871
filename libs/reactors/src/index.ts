export { askedBundle, Bundles } from './bundles';
export { waitingLines } from './line-redactions';
export { OpenedValues } from './opened-values';
export { nameValues, type NamedPart, type NamedValue } from './name-values';
export { redacted, redactorOf, type KnownToRun } from './redact';
export { redactedValue, secretsOf } from './redacted-value';
export { RunRecording, runsRecorded } from './run-recording';
export { asyncTimeoutMaxMs, returnedValue, type Ran } from './reactor-response';
export { serviceCalls } from './service-calls';
export {
  decideReactor,
  findReactor,
  type InvokedReactor,
  type ReactorDecision,
} from './find-reactor';
export { checkArguments, type ReactorCall } from './reactor-arguments';
export { invokeReactor, type Invocation } from './invoke-reactor';
