import type { ContainerGrant } from '@glovebox/access';
import type { Sql } from '@glovebox/database';
import type { KeyedHashes } from '../fingerprints';
import type { Condition } from '../search-query';
import { decidingGrant, grantValues, isLive } from './live-tokens';

/** The values of one statement. A condition names them by their place. */
class Values {
  readonly all: unknown[];

  constructor(...first: unknown[]) {
    this.all = first;
  }

  place(value: unknown): string {
    return `$${this.all.push(value)}`;
  }
}

/** Returns one page of the tokens that the grants cover, newest first, and their number in all. */
export async function findIds(
  sql: Sql,
  {
    tenantId,
    hashes,
    grants,
    condition,
    page,
    size,
  }: {
    readonly tenantId: string;
    readonly hashes: KeyedHashes;
    readonly grants: readonly ContainerGrant[];
    readonly condition: Condition;
    readonly page: number;
    readonly size: number;
  },
): Promise<{ readonly total: number; readonly ids: readonly string[] }> {
  const values = new Values(tenantId);
  const [containers] = grantValues(grants);
  const where = [
    't.tenant_id = $1',
    isLive,
    containers.includes('/') ? 'true' : startsWithAny(values.place(containers)),
    await conditionSql(condition, { values, tenantId, hashes, grants }),
  ].join(' AND ');
  const counted = [...values.all];
  const before = (page - 1) * size;
  const rows = await sql.query<{ id: string }>(
    `SELECT t.id FROM tokens t WHERE ${where} ORDER BY t.created_at DESC, t.id
     LIMIT ${values.place(size)} OFFSET ${values.place(before)}`,
    values.all,
  );
  // The last page gives the total without a count.
  const isLast = rows.length < size && (rows.length > 0 || before === 0);
  const total = isLast ? before + rows.length : await countOf(sql, where, counted);
  return { total, ids: rows.map(({ id }) => id) };
}

async function countOf(sql: Sql, where: string, values: readonly unknown[]): Promise<number> {
  const statement = `SELECT count(*)::int AS total FROM tokens t WHERE ${where}`;
  return (await sql.query<{ total: number }>(statement, values))[0]?.total ?? 0;
}

const startsWithAny = (prefixes: string): string =>
  `EXISTS (SELECT FROM unnest(${prefixes}::text[]) AS prefix WHERE starts_with(t.container, prefix))`;

/** The grant must not be `redact` where a search depends on data: its result would tell of it. */
function isOpen({ grants, values }: Terms): string {
  if (grants.every(({ transform }) => transform !== 'redact')) return 'true';
  const [containers, transforms] = grantValues(grants);
  const deciding = decidingGrant(values.place(containers), values.place(transforms));
  return `EXISTS (SELECT FROM ${deciding} WHERE g.transform <> 'redact')`;
}

interface Terms {
  readonly values: Values;
  readonly tenantId: string;
  readonly hashes: KeyedHashes;
  readonly grants: readonly ContainerGrant[];
}

/** Writes a condition as SQL over the row `t`. Values are never part of the text. */
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

/**
 * Finds the oldest token of each fingerprint, unless its grant is `redact`. A transaction that
 * stores the same data waits here for the end of the other. Locks are taken in one order. Their
 * number is bounded, because all locks of the server share one table.
 */
export async function findDuplicateIds(
  sql: Sql,
  tenantId: string,
  fingerprints: readonly string[],
  grants: readonly ContainerGrant[],
): Promise<{ readonly id: string; readonly fingerprint: string }[]> {
  await sql.query(
    `SELECT pg_advisory_xact_lock(hashtext($1), bucket) FROM (
       SELECT DISTINCT hashtext(fingerprint) & 63 AS bucket
       FROM unnest($2::text[]) AS fingerprint ORDER BY 1) buckets`,
    [tenantId, fingerprints],
  );
  return sql.query<{ id: string; fingerprint: string }>(
    `SELECT DISTINCT ON (t.fingerprint) t.fingerprint, t.id
     FROM tokens t JOIN ${decidingGrant('$3', '$4')} ON g.transform <> 'redact'
     WHERE t.tenant_id = $1 AND t.fingerprint = ANY ($2::text[]) AND ${isLive}
     ORDER BY t.fingerprint, t.created_at, t.id`,
    [tenantId, fingerprints, ...grantValues(grants)],
  );
}
