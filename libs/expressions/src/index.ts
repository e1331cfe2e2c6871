export { filterNames } from './filters';
export { Budget, limits, Tally } from './limits';
export type { Template } from './template';
export { jsonTemplate, textTemplate } from './text-templates';
export { isTokenId, normalTokenId } from './token-id';
export { dataTemplate, valueTemplate, type DataTemplate } from './value-template';
