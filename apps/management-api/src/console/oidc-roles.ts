import { isRole, type Role } from '@glovebox/access';
import type { Setting } from '@glovebox/service-host';
import { isUuid } from '../validation/uuid';

/** People whose claim has the value get the role in the tenant. */
interface RoleOfValue {
  readonly value: string;
  readonly tenantId: string;
  readonly role: Role;
}

/** A setting such as `payments-ops=TENANT:admin,payments-dev=TENANT:author`. */
export const oidcRoles: Setting<readonly RoleOfValue[]> = {
  doc: 'who may sign in, VALUE=TENANT_ID:ROLE with the role viewer, author or admin, and a comma between; the first value that the claim has counts',
  fallback: [],
  required: false,
  secret: false,
  parse: (text) =>
    text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map(toRoleOfValue),
};

function toRoleOfValue(entry: string): RoleOfValue {
  const [, value = '', tenantId, role] = /^(.+)=([^=:]+):([^=:]+)$/.exec(entry) ?? [];
  if (value !== '' && isUuid(tenantId) && isRole(role)) {
    return { value, tenantId: tenantId.toLowerCase(), role };
  }
  throw new Error(`has an entry that is not VALUE=TENANT_ID:ROLE: "${entry}"`);
}

/** Some issuers let people claim any address: one that was not verified counts for nothing. */
export function claimIn(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  return name === 'email' && claims.email_verified !== true ? undefined : claims[name];
}

/** The tenant and role of somebody with this claim: a text, or a list of them. */
export function roleOf(
  roles: readonly RoleOfValue[],
  claim: unknown,
): Pick<RoleOfValue, 'tenantId' | 'role'> | undefined {
  const values = new Set(Array.isArray(claim) ? (claim as unknown[]) : [claim]);
  return roles.find(({ value }) => values.has(value));
}
