export { CallLog } from './call-log';
export { callTokensMax, unknownPath, type EndedCall } from './call-row';
export {
  countCalls,
  dropOldBuckets,
  percentileOf,
  type CallCounts,
  type ResourceCounts,
} from './call-counts';
export { callOutcomes, failedOutcomes } from './call-outcomes';
export { latencyBoundsMs } from './call-summary';
export {
  callsById,
  findCall,
  findCallIds,
  findSummary,
  type CallQuery,
  type CallRow,
  type SummaryQuery,
  type SummaryRow,
} from './find-calls';
