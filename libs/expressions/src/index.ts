export { bodyTemplate, expandStream, type BodyContext } from './expand/expand-stream';
export {
  isContainer,
  memberPath,
  parseJsonPath,
  placesAt,
  valueOf,
  type Container,
  type JsonPath,
  type PlaceInDocument,
} from './filters/json-path';
export { Budget, Tally, type ValueObservers } from './bounds/limits';
export { Opaque } from './filters/opaque';
export {
  atOnce,
  inSlices,
  nextSlice,
  nowOrInSlices,
  pauses,
  type Work,
} from './bounds/time-slices';
export type { Template } from './expand/template';
export { headerTemplate, pathTemplate, queryTemplate } from './expand/text-templates';
export { refuseUnfilled, refuseUnfilledStream } from './scan/unfilled-expressions';
export { appendedTemplate, type AppendedTemplate } from './expand/appended-template';
export { isTokenId, normalTokenId } from './scan/token-id';
export { dataTemplate, mayExpand, placeTemplate, valueTemplate } from './expand/value-template';
