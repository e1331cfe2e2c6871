import type { ContainerGrant } from '@glovebox/access';
import type { KeyedHashes } from '../fingerprints';
import type { Condition } from '../search/search-query';
import { decidingGrant, grantValues, isLive } from './live-tokens';

/** The tokens that a caller looks for. */
export interface TokenQuery {
  readonly tenantId: string;
  readonly hashes: KeyedHashes;
  readonly grants: readonly ContainerGrant[];
  readonly condition: Condition;
}

/** The values of one statement. A condition names them by their place. */
export class StatementValues {
  readonly all: unknown[];

  constructor(...first: unknown[]) {
    this.all = first;
  }

  place(value: unknown): string {
    return `$${this.all.push(value)}`;
  }
}

export interface Terms extends TokenQuery {
  readonly values: StatementValues;
  /** The part of the condition that the source of the rows tests. */
  readonly met?: Condition | undefined;
  /** The rows are terms, which have no fingerprint. */
  readonly areTerms?: boolean;
}

/** Tests the row `t` for the tenant, its expiry, the grants and the condition. */
export async function wantedSql(terms: Terms): Promise<string> {
  const { grants, values, condition } = terms;
  return `t.tenant_id = $1 AND ${isLive} AND ${coveredSql(grants, values)}
    AND ${await conditionSql(condition, terms)}`;
}

export const coversAll = (grants: readonly ContainerGrant[]): boolean =>
  grants.some(({ container }) => container === '/');

/** Tests the container of `t`. */
export function coveredSql(grants: readonly ContainerGrant[], values: StatementValues): string {
  if (coversAll(grants)) return 'true';
  const tests = grants.map(
    ({ container }) => `starts_with(t.container, ${values.place(container)})`,
  );
  return `(${['false', ...tests].join(' OR ')})`;
}

/** Writes a condition as SQL over the row `t`. Values are never part of the text. */
export async function conditionSql(condition: Condition, terms: Terms): Promise<string> {
  const { values } = terms;
  const each = (conditions: readonly Condition[]): Promise<string[]> =>
    Promise.all(conditions.map((one) => conditionSql(one, terms)));
  if (condition === terms.met) return 'true';
  switch (condition.kind) {
    case 'all':
      return condition.of.length === 0 ? 'true' : `(${(await each(condition.of)).join(' AND ')})`;
    case 'any':
      return `(${(await each(condition.of)).join(' OR ')})`;
    case 'not':
      return `NOT coalesce(${(await each([condition.of])).join('')}, false)`;
    case 'equals':
      return equalsSql(condition, terms);
    case 'container':
      return condition.isPrefix
        ? `starts_with(t.container, ${values.place(condition.value)})`
        : `t.container = ${values.place(condition.value)}`;
    case 'data':
    case 'metadata':
      return termSql(condition, terms);
  }
}

export function equalsSql(
  { column, values: wanted }: Extract<Condition, { kind: 'equals' }>,
  terms: Terms,
): string {
  const { values, areTerms = false } = terms;
  const isOne = (row: string): string =>
    wanted.length === 1
      ? `${row}.${column} = ${values.place(wanted[0])}`
      : `${row}.${column} = ANY (${values.place(wanted)}::text[])`;
  if (column !== 'fingerprint') return isOne('t');
  const has = areTerms
    ? `(SELECT ${isOne('f')} FROM tokens f WHERE f.tenant_id = $1 AND f.id = t.id)`
    : isOne('t');
  return `(${has} AND ${openSql(terms)})`;
}

/** Looks for the one term in its index, row by row: the rows before the end of a page are few. */
async function termSql(
  condition: Extract<Condition, { kind: 'data' | 'metadata' }>,
  terms: Terms,
): Promise<string> {
  const has = `(SELECT true FROM token_terms x WHERE x.tenant_id = $1
      AND x.term = ${terms.values.place(await termOf(condition, terms))}
      AND x.created_at = t.created_at AND x.token_id = t.id)`;
  return condition.kind === 'data' ? `(${has} AND ${openSql(terms)})` : has;
}

const termOf = (
  condition: Extract<Condition, { kind: 'data' | 'metadata' }>,
  { tenantId, hashes }: Pick<TokenQuery, 'tenantId' | 'hashes'>,
): Promise<string> =>
  condition.kind === 'data'
    ? hashes.dataTerm(tenantId, condition.value)
    : hashes.metadataTerm(tenantId, condition.name, condition.value);

/** Tests rows of terms for one of them. */
export const sourceTermSql = async (
  condition: Extract<Condition, { kind: 'data' | 'metadata' }>,
  terms: Terms,
): Promise<string> =>
  `t.term = ${terms.values.place(await termOf(condition, terms))}
    AND ${condition.kind === 'data' ? openSql(terms) : 'true'}`;

/** The grant must not be `redact` where a search depends on data: its result would tell of it. */
function openSql({ grants, values }: Terms): string {
  if (grants.every(({ transform }) => transform !== 'redact')) return 'true';
  const [containers, transforms] = grantValues(grants);
  const deciding = decidingGrant(values.place(containers), values.place(transforms));
  return `EXISTS (SELECT FROM ${deciding} WHERE g.transform <> 'redact')`;
}
