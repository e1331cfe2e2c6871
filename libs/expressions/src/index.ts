export { bodyTemplate, expandStream, type BodyContext, type StreamOptions } from './expand-stream';
export {
  isContainer,
  memberPath,
  parseJsonPath,
  placesAt,
  valueOf,
  type Container,
  type JsonPath,
  type PlaceInDocument,
} from './json-path';
export { Budget, Tally } from './limits';
export { Opaque } from './opaque';
export { atOnce, inSlices, nextSlice, type TakeTurn, type Work } from './slices';
export type { Template } from './template';
export { headerTemplate, pathTemplate, queryTemplate } from './text-templates';
export { isTokenId, normalTokenId } from './token-id';
export {
  dataTemplate,
  placeTemplate,
  valueTemplate,
  type DataTemplate,
  type PlaceTemplate,
} from './value-template';
