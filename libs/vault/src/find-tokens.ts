import type { Permission } from '@glovebox/access';
import type { Sql } from '@glovebox/database';
import type { Sealer } from '@glovebox/seal';
import type { LargeOpenings } from './large-openings';
import { KeyedHashes } from './fingerprints';
import type { Condition } from './search-query';
import { showingGrants, type Look, type Viewer } from './shown-tokens';
import { findIds } from './statements/find-ids';
import { TokenParts } from './token-parts';
import type { TokenView } from './token';

export interface FoundTokens {
  readonly total: number;
  readonly tokens: readonly TokenView[];
}

/** A page whose tokens are found and not yet shown. */
export interface FoundParts {
  readonly total: number;
  readonly parts: TokenParts;
}

export interface TokenPage {
  readonly page: number;
  readonly size: number;
}

/** Finds and counts one page of tokens in an index. Showing them is another step. */
export async function findTokens(
  sql: Sql,
  sealer: Sealer,
  largeOpenings: LargeOpenings,
  actor: Viewer,
  {
    condition,
    permission,
    page,
    size,
  }: TokenPage & {
    readonly condition: Condition;
    readonly permission: Extract<Permission, 'token:read' | 'token:search'>;
  },
): Promise<FoundParts> {
  const { tenantId } = actor.principal;
  const grants = showingGrants(actor.principal, permission);
  const hashes = new KeyedHashes(sealer);
  const { total, ids } = await findIds(sql, { tenantId, hashes, grants, condition, page, size });
  const look: Look = {
    permission,
    operation: permission === 'token:read' ? 'token.list' : 'token.search',
    entityType: 'tenant',
    entityId: tenantId,
    isList: true,
  };
  return { total, parts: new TokenParts(sealer, largeOpenings, actor, look, ids) };
}
