export type ApplicationType = 'private' | 'public' | 'management';

export const applicationTypes = ['private', 'public', 'management'] as const;

interface PermissionInfo {
  readonly description: string;
  readonly applicationTypes: readonly ApplicationType[];
}

const management = (description: string): PermissionInfo => ({
  description,
  applicationTypes: ['management'],
});
const secret = (description: string): PermissionInfo => ({
  description,
  applicationTypes: ['private'],
});
const open = (description: string): PermissionInfo => ({
  description,
  applicationTypes: ['private', 'public'],
});

/** All permissions, with the application types that may hold each. */
export const permissionCatalogue = {
  'reactor:create': management('Create reactors and reactor formulas'),
  'reactor:read': management('Read reactors and reactor formulas'),
  'reactor:update': management('Update reactors and reactor formulas'),
  'reactor:delete': management('Delete reactors and reactor formulas'),
  'proxy:create': management('Create proxies'),
  'proxy:read': management('Read proxies'),
  'proxy:update': management('Update proxies'),
  'proxy:delete': management('Delete proxies'),
  'deployment:create': management(
    'Deploy reactors, proxies and applications, and return to a deployment',
  ),
  'deployment:read': management('Read what was deployed'),
  'application:create': management('Create applications'),
  'application:read': management('Read applications'),
  'application:update': management('Update applications and their keys'),
  'application:delete': management('Delete applications'),
  'tenant:read': management('Read the tenant'),
  'tenant:update': management('Update the tenant and its webhook secret'),
  'tenant:delete': management('Delete the tenant'),
  'log:read': management('Read the audit log and the logs of runs'),
  'token:create': open('Create tokens'),
  'token:update': open('Update tokens'),
  'token:read': secret('Read and detokenize tokens'),
  'token:search': secret('Search tokens'),
  'token:delete': secret('Delete tokens'),
  'token:use': secret('Use tokens in reactors and proxies'),
} as const satisfies Record<string, PermissionInfo>;

export type Permission = keyof typeof permissionCatalogue;

export const permissions = Object.keys(permissionCatalogue) as Permission[];

export function mayHold(type: ApplicationType, permission: Permission): boolean {
  const types: readonly ApplicationType[] = permissionCatalogue[permission].applicationTypes;
  return types.includes(type);
}
