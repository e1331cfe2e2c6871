export {
  bytesOfRuns,
  claimCall,
  keyedHash,
  release,
  rowBytes,
  storeOutcome,
  storeProblem,
  type CallName,
  type Claim,
  type Replay,
} from './claimed-calls';
export { notStored, replayHeader, requireIdempotencyKey } from './key-of-call';
