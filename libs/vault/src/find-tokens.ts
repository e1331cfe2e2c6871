import type { Actor, Permission } from '@glovebox/access';
import { decidingGrant, type Grant, type Sql } from '@glovebox/database';
import type { Sealer } from '@glovebox/seal';
import type { Shares } from '@glovebox/shares';
import { KeyedHashes } from './fingerprints';
import type { Condition } from './search-query';
import { showingGrants, showTokens } from './shown-tokens';
import type { TokenView } from './token';

export interface FoundTokens {
  readonly total: number;
  readonly tokens: readonly TokenView[];
}

export interface TokenPage {
  readonly page: number;
  readonly size: number;
}

/** Values of one statement; a condition names them by their place. */
class Values {
  readonly all: unknown[];

  constructor(...first: unknown[]) {
    this.all = first;
  }

  place(value: unknown): string {
    return `$${this.all.push(value)}`;
  }
}

/**
 * One page of the tokens that the caller's grants cover, the newest first: leafed through and counted
 * in an index, then shown as each grant says.
 */
export async function findTokens(
  sql: Sql,
  sealer: Sealer,
  largeOpenings: Shares,
  actor: Actor,
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
  const values = new Values(tenantId);
  const grants = showingGrants(actor.principal, permission);
  const containers = grants.map(({ container }) => container);
  const terms = {
    values,
    tenantId,
    hashes: new KeyedHashes(sealer),
    grants,
  };
  const where = [
    't.tenant_id = $1',
    '(t.expires_at IS NULL OR t.expires_at > now())',
    containers.includes('/') ? 'true' : startsWithAny(values.place(containers)),
    await conditionSql(condition, terms),
  ].join(' AND ');
  const counted = [...values.all];
  const before = (page - 1) * size;
  const rows = await sql.query<{ id: string }>(
    `SELECT t.id FROM tokens t WHERE ${where} ORDER BY t.created_at DESC, t.id
     LIMIT ${values.place(size)} OFFSET ${values.place(before)}`,
    values.all,
  );
  // The last page tells how many there are in all.
  const isLast = rows.length < size && (rows.length > 0 || before === 0);
  const total = isLast ? before + rows.length : await countOf(sql, where, counted);
  const look = {
    permission,
    operation: permission === 'token:read' ? 'token.list' : 'token.search',
    entityType: 'tenant',
    entityId: tenantId,
  } as const;
  const ids = rows.map(({ id }) => id);
  const shown = await showTokens(sql, sealer, actor, look, ids, largeOpenings);
  return { total, tokens: shown.map(({ view }) => view) };
}

async function countOf(sql: Sql, where: string, values: readonly unknown[]): Promise<number> {
  const statement = `SELECT count(*)::int AS total FROM tokens t WHERE ${where}`;
  return (await sql.query<{ total: number }>(statement, values))[0]?.total ?? 0;
}

const startsWithAny = (prefixes: string): string =>
  `EXISTS (SELECT FROM unnest(${prefixes}::text[]) AS prefix WHERE starts_with(t.container, prefix))`;

/** Whether more than nothing may be shown of a token: else no search may depend on its data. */
function isOpen({ grants, values }: Terms): string {
  if (grants.every(({ transform }) => transform !== 'redact')) return 'true';
  const containers = values.place(grants.map(({ container }) => container));
  const transforms = values.place(grants.map(({ transform }) => transform));
  return `EXISTS (SELECT FROM ${decidingGrant(containers, transforms)} WHERE g.transform <> 'redact')`;
}

interface Terms {
  readonly values: Values;
  readonly tenantId: string;
  readonly hashes: KeyedHashes;
  readonly grants: readonly Grant[];
}

/** What a query says, over the row `t`; values are never part of the text. */
async function conditionSql(condition: Condition, terms: Terms): Promise<string> {
  const { values, tenantId, hashes } = terms;
  const each = (conditions: readonly Condition[]): Promise<string[]> =>
    Promise.all(conditions.map((one) => conditionSql(one, terms)));
  const hasTerm = (term: string): string =>
    `t.id IN (SELECT token_id FROM token_terms
       WHERE tenant_id = $1 AND term = ${values.place(term)})`;
  switch (condition.kind) {
    case 'all':
      return condition.of.length === 0 ? 'true' : `(${(await each(condition.of)).join(' AND ')})`;
    case 'any':
      return `(${(await each(condition.of)).join(' OR ')})`;
    case 'not':
      return `NOT coalesce(${(await each([condition.of])).join('')}, false)`;
    case 'equals': {
      const isOne = `t.${condition.column} = ANY (${values.place(condition.values)}::text[])`;
      return condition.column === 'fingerprint' ? `(${isOne} AND ${isOpen(terms)})` : isOne;
    }
    case 'container':
      return condition.isPrefix
        ? `starts_with(t.container, ${values.place(condition.value)})`
        : `t.container = ${values.place(condition.value)}`;
    case 'data':
      return `(${hasTerm(await hashes.dataTerm(tenantId, condition.value))} AND ${isOpen(terms)})`;
    case 'metadata':
      return hasTerm(await hashes.metadataTerm(tenantId, condition.name, condition.value));
  }
}
