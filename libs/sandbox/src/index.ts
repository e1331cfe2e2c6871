export {
  encodeData,
  encodeFrame,
  encodePieces,
  FrameDecoder,
  FrameError,
  leavingId,
  sandboxHeadBytesMax,
  streamWindowBytes,
  valueBytesMax,
  type Frame,
  type JsonFrameType,
  type JsonObject,
} from './frames';
export {
  agreedVersion,
  helloOf,
  inWords,
  spokenBy,
  spokenVersions,
  type SpokenVersions,
} from './protocol';
export { readValue, writeValue } from './values';
export { nameOf, objectOf, positiveOf, textOf } from './members';
export {
  levelOf,
  parseRunOrder,
  reachOf,
  processKey,
  runtimes,
  type Cancellation,
  type Inspection,
  type Isolation,
  type LogLine,
  type RunHooks,
  type RunOrder,
  type RunRequest,
  type Runtime,
  type Urgency,
} from './run';
export {
  parseOutcome,
  type InspectorRefusal,
  type InvalidResultReason,
  type MemoryLimit,
  type RunOutcome,
  type RuntimeRefusal,
  type UnreadOutcome,
} from './outcome';
export {
  cutThrownBody,
  cutThrownHeaders,
  cutThrownLists,
  cutThrownText,
  isFunctionName,
  isHttpStatus,
  stackFramesMax,
  type CodeFrame,
  type ThrownError,
} from './thrown-error';
export {
  availablePackages,
  builtinModules,
  bundleFileOf,
  moduleOf,
  offeredNames,
  shippedPackages,
  unavailable,
  type OfferedNames,
} from './offered-modules';
export { parseRunnerAddress, type RunnerAddress } from './runner/runner-address';
export { parseRunnerSecret } from './runner/runner-secret';
export { runnerTls, tlsKeyOf } from './runner/runner-tls';
export { askRunners } from './runner/ask-runners';
export { createRunnerClient, type RunnerClient } from './runner/runner-client';
export {
  callTooLarge,
  inspectedBytesMax,
  OpenCalls,
  svcBytesMax,
  svcCallsMax,
} from './call-limits';
export { FrameLanes, writePieces } from './frame-lanes';
export {
  adviceOnSyntax,
  codeName,
  placeAt,
  placeOfSyntaxError,
  type CodePlace,
} from './code-place';
export { linesDropped, logBytesMax, logLinesMax, type LogLevel } from './log-limits';
export { describeCallError, parseCallError } from './call-error';
