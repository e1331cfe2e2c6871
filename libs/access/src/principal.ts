import { Problem } from '@glovebox/problems';
import { mayHold, permissionCatalogue, type ApplicationType, type Permission } from './permissions';

export type Transform = 'reveal' | 'mask' | 'redact';

export interface AccessRule {
  readonly description: string;
  readonly priority: number;
  readonly container: string;
  readonly transform: Transform;
  readonly permissions: readonly Permission[];
  /** Where the tokens may go that it grants. Absent: anywhere. */
  readonly destinations?: readonly string[];
}

/** An application or a person of a tenant as it acts, with its permissions and rules. */
export interface Principal {
  /** Of the application, or of the person. */
  readonly actorId: string;
  readonly tenantId: string;
  readonly type: ApplicationType | 'person';
  readonly permissions: readonly Permission[];
  readonly rules: readonly AccessRule[];
}

/** The gate of an endpoint: the permission is listed plainly, or in any rule. */
export function holds(principal: Principal, permission: Permission): boolean {
  return (
    principal.permissions.includes(permission) ||
    principal.rules.some((rule) => rule.permissions.includes(permission))
  );
}

export function requirePermission(principal: Principal, permission: Permission): void {
  if (holds(principal, permission)) return;
  const needed = `The permission ${permission} is needed.`;
  const hint = whyNever(principal.type, permission);
  throw new Problem('permission_denied', {
    detail: hint === undefined ? needed : `${needed} ${hint}`,
  });
}

function whyNever(type: Principal['type'], permission: Permission): string | undefined {
  if (type === 'person') return 'Your role does not hold it.';
  if (mayHold(type, permission)) return undefined;
  const [holder] = permissionCatalogue[permission].applicationTypes;
  return `Applications of type ${type} cannot hold it; use a ${holder} one.`;
}

export interface ContainerGrant {
  readonly container: string;
  readonly transform: Transform;
  readonly destinations?: readonly string[];
}

/**
 * Lists the grants in the order in which they decide: the first that covers the container of a
 * token does. Rules that list the permission come first, by lowest priority and then by longest
 * container. The plain permission comes last.
 */
export function grantsFor(principal: Principal, permission: Permission): ContainerGrant[] {
  const grants: ContainerGrant[] = rulesInOrder(principal, permission).map(
    ({ container, transform, destinations }) =>
      destinations ? { container, transform, destinations } : { container, transform },
  );
  if (principal.permissions.includes(permission)) {
    const transform = permission === 'token:use' ? 'reveal' : 'mask';
    grants.push({ container: '/', transform });
  }
  return grants;
}

const rulesInOrder = ({ rules }: Principal, permission: Permission): AccessRule[] =>
  rules
    .filter((rule) => rule.permissions.includes(permission))
    .sort((a, b) => a.priority - b.priority || b.container.length - a.container.length);

/** The rule that decides. Undefined: the plain permission does, or nothing. */
export const ruleFor = (
  principal: Principal,
  permission: Permission,
  container: string,
): AccessRule | undefined =>
  rulesInOrder(principal, permission).find((rule) => container.startsWith(rule.container));

/** Containers end with a slash, so that a prefix of the text is a prefix of whole segments. */
export function grantFor(
  principal: Principal,
  permission: Permission,
  container: string,
): Transform | undefined {
  return grantsFor(principal, permission).find((grant) => container.startsWith(grant.container))
    ?.transform;
}
