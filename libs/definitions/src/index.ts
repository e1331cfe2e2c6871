export { connectDefinitions, type DefinitionConnection } from './connect';
export type {
  ApplicationDefinition,
  Definition,
  DefinitionKind,
  DefinitionOf,
  FormulaDefinition,
  ParameterType,
  ProxyDefinition,
  ReactorDefinition,
  RequestParameter,
  StepToken,
  TenantDefinition,
  TlsDefinition,
  TransformDefinition,
  TransformStep,
} from './definition';
export { Decision } from './decision';
export { DefinitionFollower } from './follower';
export { appendDefinition, appendDeletion, appendTenantDeletion, readLog } from './log';
export { resealDefinitions, sealedInRedis } from './reseal';
export { DefinitionSnapshot, principalOf } from './snapshot';
