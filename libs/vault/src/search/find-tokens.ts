import type { Permission } from '@glovebox/access';
import type { PageQuery, Pagination, Sql } from '@glovebox/database';
import type { Sealer } from '@glovebox/seal';
import type { LargeOpenings } from '../openings/large-openings';
import { KeyedHashes } from '../fingerprints';
import type { Condition } from './search-query';
import { showingGrants, type TokenLook, type Viewer } from '../sights/shown-tokens';
import { findIds } from '../statements/find-ids';
import { TokenParts } from '../token-parts';
import type { TokenView } from '../token';

export interface FoundTokens {
  readonly pagination: Pagination;
  readonly tokens: readonly TokenView[];
}

/** A page whose tokens are found and not yet shown. */
export interface FoundParts {
  readonly pagination: Pagination;
  readonly parts: TokenParts;
}

/** Finds one page of tokens. Showing them is another step. */
export async function findTokens(
  sql: Sql,
  sealer: Sealer,
  largeOpenings: LargeOpenings,
  actor: Viewer,
  {
    condition,
    permission,
    query,
  }: {
    readonly condition: Condition;
    readonly permission: Extract<Permission, 'token:read' | 'token:search'>;
    readonly query: PageQuery;
  },
): Promise<FoundParts> {
  const { tenantId } = actor.principal;
  const grants = showingGrants(actor.principal, permission);
  const hashes = new KeyedHashes(sealer);
  const found = await findIds(sql, { tenantId, hashes, grants, condition }, query);
  const look: TokenLook = {
    permission,
    operation: permission === 'token:read' ? 'token.list' : 'token.search',
    entityType: 'tenant',
    entityId: tenantId,
    isList: true,
  };
  const ids = found.entries.map(({ id }) => id);
  const parts = new TokenParts(sealer, largeOpenings, actor, look, ids);
  return { pagination: found.pagination, parts };
}
