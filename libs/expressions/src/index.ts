export { bodyTemplate, expandStream, type BodyContext, type StreamOptions } from './expand-stream';
export { filterNames } from './filters';
export { Budget, limits, Tally } from './limits';
export type { Template } from './template';
export {
  formTemplate,
  headerTemplate,
  jsonTemplate,
  pathTemplate,
  queryTemplate,
  textTemplate,
} from './text-templates';
export { isTokenId, normalTokenId } from './token-id';
export { dataTemplate, valueTemplate, type DataTemplate } from './value-template';
