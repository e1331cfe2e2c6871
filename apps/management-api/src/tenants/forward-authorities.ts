import type { EntityManager } from 'typeorm';
import type { Actor } from '@glovebox/access';
import { createAuthority } from '@glovebox/certificates';
import type { AuthorityDefinition, ForwardAuthority } from '@glovebox/definitions';
import type { Place, Sealer } from '@glovebox/seal';
import { change, type Author } from '../changes/change';
import type { ManagementContext } from '../context';
import type { Tenant } from '../entities/tenant.entity';

const overlapMs = 30 * 24 * 60 * 60_000;

/** The certificates that clients must trust. Keys never leave the store. */
export interface ForwardAuthorityResponse {
  /** PEM: the newest, and behind it one that still signs. */
  certificates: string;
  /** The newest signs from then on. Absent where it does already. */
  signs_from?: string;
}

/** Locks the row of the tenant. */
type LockTenant = (manager: EntityManager) => Promise<Tenant>;

/** Shows the authority of forward mode, and makes it at its first use. */
export async function showForwardAuthority(
  ctx: ManagementContext,
  { principal, traceId }: Actor,
  { find, lock }: { readonly find: () => Promise<Tenant>; readonly lock: LockTenant },
): Promise<ForwardAuthorityResponse> {
  const { tenantId, actorId, type } = principal;
  const stored = await openAuthorities(ctx.sealer, await find());
  if (stored.length > 0) return toResponse(stored);
  const person = type === 'person' ? { person: principal } : {};
  const author: Author = { tenantId, actorId, traceId, claim: undefined, ...person };
  return change(ctx, author, 'create_forward_ca', async (manager) => {
    const tenant = await lock(manager);
    // Another call may have made it meanwhile.
    const before = await openAuthorities(ctx.sealer, tenant);
    if (before.length > 0) return { result: toResponse(before) };
    return put(ctx.sealer, manager, tenant, [newAuthority(tenantId)], 'create_forward_ca');
  });
}

/**
 * Makes a new authority. The one before it signs for thirty days, so that clients have time to trust
 * the new one. A second rotation within that time ends it: the oldest signs nothing any more.
 */
export function rotateForwardAuthority(
  ctx: ManagementContext,
  author: Author,
  lock: LockTenant,
): Promise<ForwardAuthorityResponse> {
  return change(ctx, author, 'rotate_forward_ca', async (manager) => {
    const tenant = await lock(manager);
    const [newest] = await openAuthorities(ctx.sealer, tenant);
    const until = new Date(Date.now() + overlapMs).toISOString();
    const isUnused = newest === undefined;
    const authorities = [newAuthority(tenant.id), ...(isUnused ? [] : [{ ...newest, until }])];
    return put(ctx.sealer, manager, tenant, authorities, 'rotate_forward_ca');
  });
}

const newAuthority = (tenantId: string): ForwardAuthority => {
  const day = new Date().toISOString().slice(0, 10);
  return { ...createAuthority(`Glovebox ${tenantId} ${day}`), until: null };
};

async function put(
  sealer: Sealer,
  manager: EntityManager,
  tenant: Tenant,
  authorities: readonly ForwardAuthority[],
  operation: string,
) {
  const { id } = tenant;
  tenant.forwardAuthorities = await sealer.seal(placeOf(id), JSON.stringify(authorities));
  await manager.save(tenant);
  const definition: AuthorityDefinition = { kind: 'authority', id, tenantId: id, authorities };
  return {
    result: toResponse(authorities),
    definitions: [definition],
    lines: [{ operation: `tenant.${operation}`, entityType: 'tenant', entityIds: [id] }],
  };
}

async function openAuthorities(
  sealer: Sealer,
  { id, forwardAuthorities }: Pick<Tenant, 'id' | 'forwardAuthorities'>,
): Promise<ForwardAuthority[]> {
  if (!forwardAuthorities) return [];
  const text = await sealer.open(placeOf(id), forwardAuthorities);
  return JSON.parse(text.toString('utf8')) as ForwardAuthority[];
}

function toResponse(authorities: readonly ForwardAuthority[]): ForwardAuthorityResponse {
  const now = new Date().toISOString();
  const live = authorities.filter(({ until }) => until === null || until > now);
  const until = live.find((authority) => authority.until !== null)?.until;
  return {
    certificates: live.map(({ certificate }) => certificate).join(''),
    ...(until ? { signs_from: until } : {}),
  };
}

function placeOf(tenantId: string): Place {
  return { table: 'tenants', column: 'forward_authorities', tenantId, record: tenantId };
}
