import { permissionCatalogue, permissions, type Permission } from './permissions';
import type { Principal } from './principal';

export const roles = ['viewer', 'author', 'admin'] as const;

export type Role = (typeof roles)[number];

const viewer: readonly Permission[] = [
  'reactor:read',
  'proxy:read',
  'application:read',
  'deployment:read',
  'tenant:read',
  'log:read',
  'token:read',
  'token:search',
];

/** An author's code gets data, so an author uses tokens without it as well. */
const author: readonly Permission[] = [
  ...viewer,
  'reactor:create',
  'reactor:update',
  'reactor:delete',
  'proxy:create',
  'proxy:update',
  'proxy:delete',
  'token:use',
];

const ofManagement = permissions.filter((permission) =>
  permissionCatalogue[permission].applicationTypes.some((type) => type === 'management'),
);

const admin: readonly Permission[] = [...new Set([...author, ...ofManagement]), 'token:delete'];

export const rolePermissions: Readonly<Record<Role, readonly Permission[]>> = {
  viewer,
  author,
  admin,
};

export const isRole = (text: string | undefined): text is Role =>
  roles.some((role) => role === text);

/** A person of the console. No rule: plain permissions show masks. */
export function personPrincipal(person: {
  readonly id: string;
  readonly tenantId: string;
  readonly role: Role;
}): Principal {
  const { id, tenantId, role } = person;
  return {
    actorId: id,
    tenantId,
    type: 'person',
    permissions: rolePermissions[role],
    rules: [],
  };
}
