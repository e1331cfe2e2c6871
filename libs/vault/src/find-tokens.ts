import type { Actor, Permission } from '@glovebox/access';
import type { PageQuery, Pagination, Sql } from '@glovebox/database';
import type { Sealer } from '@glovebox/seal';
import type { LargeOpenings } from './large-openings';
import { KeyedHashes } from './fingerprints';
import type { Condition } from './search-query';
import { showingGrants, showTokens } from './shown-tokens';
import { findIds } from './statements/find-ids';
import type { TokenView } from './token';

export interface FoundTokens {
  readonly pagination: Pagination;
  readonly tokens: readonly TokenView[];
}

/** Finds one page of tokens, then shows each as its grant says. */
export async function findTokens(
  sql: Sql,
  sealer: Sealer,
  largeOpenings: LargeOpenings,
  actor: Actor,
  {
    condition,
    permission,
    query,
  }: {
    readonly condition: Condition;
    readonly permission: Extract<Permission, 'token:read' | 'token:search'>;
    readonly query: PageQuery;
  },
): Promise<FoundTokens> {
  const { tenantId } = actor.principal;
  const grants = showingGrants(actor.principal, permission);
  const hashes = new KeyedHashes(sealer);
  const found = await findIds(sql, { tenantId, hashes, grants, condition }, query);
  const look = {
    permission,
    operation: permission === 'token:read' ? 'token.list' : 'token.search',
    entityType: 'tenant',
    entityId: tenantId,
    isList: true,
  } as const;
  const ids = found.entries.map(({ id }) => id);
  const shown = await showTokens(sql, sealer, actor, look, ids, largeOpenings);
  return { pagination: found.pagination, tokens: shown };
}
