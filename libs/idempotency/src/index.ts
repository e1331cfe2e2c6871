export {
  bytesOfRuns,
  claimCall,
  keyedHash,
  release,
  rowBytes,
  storeAnswer,
  storeOutcome,
  storeProblem,
  type CallName,
  type Claim,
  type Replay,
} from './claimed-calls';
export { repeatedAnswer } from './repeated-answer';
export { statusesNotStored, replayHeader, requireIdempotencyKey } from './key-of-call';
