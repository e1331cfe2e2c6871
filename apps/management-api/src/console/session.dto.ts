import { rolePermissions, type Permission, type Role } from '@glovebox/access';
import { idleMinutes, type Session } from './sessions';

export interface SessionResponse {
  readonly person: { readonly id: string; readonly name: string };
  readonly role: Role;
  readonly permissions: readonly Permission[];
  readonly tenant: { readonly id: string; readonly name: string };
  /** A session without a request for so long ends. */
  readonly idle_minutes: number;
}

export function toSessionResponse(session: Session): SessionResponse {
  const { personId, personName, role, tenantId, tenantName } = session;
  return {
    person: { id: personId, name: personName },
    role,
    permissions: rolePermissions[role],
    tenant: { id: tenantId, name: tenantName },
    idle_minutes: idleMinutes,
  };
}
