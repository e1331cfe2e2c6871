export { isTokenId, limits, normalTokenId, scan, type Expression } from './scan';
export { jsonTemplate, valueTemplate, type Template } from './template';
