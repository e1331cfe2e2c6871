export {
  bodyTemplate,
  expandStream,
  type BodyContext,
  type StreamOptions,
} from './expand/expand-stream';
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
export { Budget, Tally } from './expand/limits';
export { Opaque } from './expand/opaque';
export { atOnce, inSlices, nextSlice, type TakeTurn, type Work } from './expand/slices';
export type { Template } from './expand/template';
export { headerTemplate, pathTemplate, queryTemplate } from './expand/text-templates';
export { isTokenId, normalTokenId } from './scan/token-id';
export {
  dataTemplate,
  placeTemplate,
  valueTemplate,
  type DataTemplate,
  type PlaceTemplate,
} from './expand/value-template';
