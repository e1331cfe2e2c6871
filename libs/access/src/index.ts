export type { Actor } from './actor';
export {
  generateApiKey,
  generateProxyKey,
  generateSessionKey,
  isApiKey,
  isProxyKey,
  isSessionKey,
} from './api-key';
export {
  covers,
  destinationCharactersMax,
  destinationsMax,
  hostPatternsOf,
  isWithin,
  mustBeDestinations,
  normalDestinations,
  overlapOf,
  parseDestination,
  segmentsOf,
  type DestinationPattern,
  type Place,
} from './destinations';
export { asLent, inCode, notLent } from './lending';
export {
  applicationTypes,
  mayHold,
  permissionCatalogue,
  permissions,
  type ApplicationType,
  type Permission,
} from './permissions';
export {
  grantFor,
  grantsFor,
  holds,
  requirePermission,
  ruleFor,
  type AccessRule,
  type ContainerGrant,
  type Principal,
  type Transform,
} from './principal';
export { isRole, personPrincipal, rolePermissions, roles, type Role } from './roles';
export { applicationDeleted, invalidApiKey, missingProxyKey } from './refused-keys';
