export { openDefinition, parseDefinition, sealDefinition, UnknownPayloadVersion } from './codec';
export { connectDefinitions, type DefinitionConnection } from './connect';
export type {
  ApplicationDefinition,
  Definition,
  DefinitionKind,
  DefinitionOf,
  FormulaDefinition,
  Isolation,
  ParameterType,
  ProxyDefinition,
  ReactorDefinition,
  RequestParameter,
  Runtime,
  TenantDefinition,
  TlsDefinition,
  TransformDefinition,
} from './definition';
export { DefinitionFollower, type FollowerOptions, type LeaseSource } from './follower';
export {
  appendDefinition,
  appendDeletion,
  appendTenantDeletion,
  readLog,
  type Head,
  type LogEntry,
  type LogPart,
} from './log';
export { DefinitionRelay, type RelayOptions } from './relay';
export { resealDefinitions, sealedInRedis, type Resealed } from './reseal';
export { DefinitionSnapshot, principalOf } from './snapshot';
