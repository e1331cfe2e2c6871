export {
  encodeData,
  encodeFrame,
  encodeFrameText,
  FrameDecoder,
  FrameError,
  frameBytesMax,
  protocolVersion,
  streamWindowBytes,
  UnsendableFrame,
  type Frame,
  type JsonFrameType,
  type JsonObject,
} from './frames';
export {
  cutThrownLists,
  cutThrownBody,
  cutThrownHeaders,
  cutThrownText,
  isHttpStatus,
  isPlace,
  objectOf,
  parseLogLine,
  parseOutcome,
  parseRunOrder,
  positiveOf,
  processKey,
  runtimes,
  textOf,
  type InvalidResultReason,
  type Isolation,
  type LogLine,
  type RunHooks,
  type RunOrder,
  type RunOutcome,
  type RunRequest,
  type Runtime,
  type ThrownError,
  type Urgency,
} from './run';
export {
  builtinModules,
  bundleFileOf,
  moduleOf,
  offeredNames,
  shippedPackages,
  unavailable,
  type OfferedNames,
} from './modules';
export { parseRunnerAddress, type RunnerAddress } from './address';
export { parseRunnerSecret } from './runner-secret';
export { runnerTls, tlsKeyOf } from './runner-tls';
export { createRunnerClient, type RunnerClient } from './runner-client';
export { OpenCalls, svcBytesMax, svcCallsMax } from './call-limits';
export { linesDropped, logBytesMax, logLinesMax, type LogLevel } from './log-limits';
export { FrameLanes } from './frame-lanes';
export { describeCallError, parseCallError } from './call-error';
