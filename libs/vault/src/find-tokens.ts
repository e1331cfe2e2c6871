import type { Permission } from '@glovebox/access';
import type { Sql } from '@glovebox/database';
import type { Sealer } from '@glovebox/seal';
import type { LargeOpenings } from './large-openings';
import { KeyedHashes } from './fingerprints';
import type { Condition } from './search-query';
import { showingGrants, showTokens, type Viewer } from './shown-tokens';
import { findIds } from './statements/find-ids';
import type { TokenView } from './token';

export interface FoundTokens {
  readonly total: number;
  readonly tokens: readonly TokenView[];
}

export interface TokenPage {
  readonly page: number;
  readonly size: number;
}

/** Finds and counts one page of tokens in an index, then shows each as its grant says. */
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
): Promise<FoundTokens> {
  const { tenantId } = actor.principal;
  const grants = showingGrants(actor.principal, permission);
  const hashes = new KeyedHashes(sealer);
  const { total, ids } = await findIds(sql, { tenantId, hashes, grants, condition, page, size });
  const look = {
    permission,
    operation: permission === 'token:read' ? 'token.list' : 'token.search',
    entityType: 'tenant',
    entityId: tenantId,
    isList: true,
  } as const;
  const shown = await showTokens(sql, sealer, actor, look, ids, largeOpenings);
  return { total, tokens: shown };
}
