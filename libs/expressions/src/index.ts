export { bodyTemplate, expandStream, type BodyContext, type StreamOptions } from './expand-stream';
export { Budget, Tally } from './limits';
export { atOnce, inSlices, nextSlice, type TakeTurn, type Work } from './slices';
export type { Template } from './template';
export { headerTemplate, pathTemplate, queryTemplate } from './text-templates';
export { isTokenId, normalTokenId } from './token-id';
export { dataTemplate, valueTemplate, type DataTemplate } from './value-template';
