export { connectDefinitions, definitionConnections, type DefinitionConnection } from './connect';
export type {
  ApplicationDefinition,
  AuthorityDefinition,
  Definition,
  CaptureDefinition,
  DefinitionKind,
  DefinitionOf,
  ForwardAuthority,
  FormulaDefinition,
  ParameterType,
  ProxyDefinition,
  ProxyMatch,
  ReactorDefinition,
  RequestParameter,
  RunnableCode,
  StepToken,
  TenantDefinition,
  TlsDefinition,
  TransformDefinition,
  TransformStep,
} from './definition';
export { isRequired } from './definition';
export { Decision } from './decision';
export { DefinitionFollower } from './follower';
export {
  appendChanges,
  appendDefinition,
  appendTenantDeletion,
  isUnderstood,
  listLog,
  readPayloads,
  isDefined,
  versionOf,
} from './log';
export {
  acceptDatabase,
  lockDatabase,
  raisePulse,
  standingOf,
  tellMarker,
  type Standing,
} from './marker';
export {
  cachedDefinitions,
  countCachedPayloads,
  forgetCachedPayloads,
  readCachedPayloads,
  removeOlderPayloads,
} from './payloads';
export { openDefinition } from './codec';
export { hasPathParameters, matchKeysOf } from './matched-proxies';
export { resealDefinitions } from './reseal';
export { DefinitionSnapshot, principalOf } from './snapshot';
