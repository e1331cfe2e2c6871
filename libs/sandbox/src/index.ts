export {
  encodeData,
  encodeFrame,
  encodeFrameText,
  FrameDecoder,
  FrameError,
  frameBytesMax,
  protocolVersion,
  streamWindowBytes,
  type Frame,
  type JsonFrameType,
  type JsonObject,
} from './frames';
export {
  objectOf,
  parseLogLine,
  parseOutcome,
  parseRunOrder,
  parseThrownError,
  positiveOf,
  processKey,
  runtimes,
  textOf,
  type InvalidResultReason,
  type Isolation,
  type LogLine,
  type RunOrder,
  type RunOutcome,
  type RunRequest,
  type Runtime,
  type ThrownError,
} from './run';
export { parseRunnerAddress, type RunnerAddress } from './address';
export {
  createRunnerClient,
  type RunHooks,
  type RunnerClient,
  type RunnerClientOptions,
} from './runner-client';
export { describeCallError, parseCallError } from './call-error';
