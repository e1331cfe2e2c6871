import { countUpTo, type Part, type Sql } from '@glovebox/database';
import type { Condition } from '../search/search-query';
import {
  conditionSql,
  coversAll,
  equalsSql,
  sourceTermSql,
  StatementValues,
  wantedSql,
  type Terms,
  type TokenQuery,
} from './token-conditions';
import { isKept, readCounts, type TokenGroup } from './token-counts';

/** Tokens that an index has in the order of lists: those that meet `within`, and not `without`. */
type Source = {
  readonly within: readonly Condition[];
  readonly without: readonly Condition[];
} & (
  | { readonly kind: 'all' }
  | { readonly kind: 'group'; readonly group: TokenGroup }
  | { readonly kind: 'column'; readonly of: Extract<Condition, { kind: 'equals' }> }
  | { readonly kind: 'term'; readonly of: Extract<Condition, { kind: 'data' | 'metadata' }> }
);

/** Sources that together have every wanted token, and each of them once. */
export interface Sources {
  readonly all: readonly Source[];
  /** The number of their tokens, where it is kept. */
  readonly items?: number;
}

/** Postgres would plan a statement of more sources for longer than it reads. */
const sourcesMax = 32;

const whole = { within: [], without: [] };
const everything: Sources = { all: [{ kind: 'all', ...whole }] };
const isEverything = ({ all }: Sources): boolean => all.some(({ kind }) => kind === 'all');

/** Chooses sources that have few tokens besides the wanted ones. */
export const sourcesOf = (sql: Sql, wanted: TokenQuery): Promise<Sources> =>
  isKept(wanted.condition)
    ? keptSources(sql, wanted)
    : conjunction(sql, wanted, [wanted.condition]);

async function keptSources(sql: Sql, wanted: TokenQuery): Promise<Sources> {
  const counts = await readCounts(sql, wanted, sourcesMax + 1);
  if (!counts) return everything;
  const { items, groups, isWhole } = counts;
  if (isWhole || groups.length > sourcesMax) return { ...everything, items };
  return { items, all: groups.map((group) => ({ kind: 'group', group, ...whole })) };
}

/** The sources of that part of a conjunction that the fewest tokens meet. */
async function conjunction(
  sql: Sql,
  wanted: TokenQuery,
  parts: readonly Condition[],
): Promise<Sources> {
  const kept = parts.filter(isKept);
  const choices: Sources[] = [];
  if (kept.length > 0 || !coversAll(wanted.grants)) {
    choices.push(await keptSources(sql, { ...wanted, condition: { kind: 'all', of: kept } }));
  }
  for (const part of parts) {
    if (!isKept(part)) choices.push(await sourcesOfPart(sql, wanted, part));
  }
  return fewest(
    sql,
    wanted,
    choices.filter((choice) => !isEverything(choice)),
  );
}

function sourcesOfPart(sql: Sql, wanted: TokenQuery, part: Condition): Promise<Sources> | Sources {
  if (isKept(part)) return keptSources(sql, { ...wanted, condition: part });
  switch (part.kind) {
    case 'all':
      return conjunction(sql, wanted, part.of);
    case 'any':
      return alternatives(sql, wanted, part.of);
    case 'equals':
      return { all: [{ kind: 'column', of: part, ...whole }] };
    case 'data':
    case 'metadata':
      return { all: [{ kind: 'term', of: part, ...whole }] };
    case 'not':
    case 'container':
      return everything;
  }
}

/** The sources of all parts. Tokens of several parts are those of the first. */
async function alternatives(
  sql: Sql,
  wanted: TokenQuery,
  parts: readonly Condition[],
): Promise<Sources> {
  const all: Source[] = [];
  for (const [at, part] of parts.entries()) {
    const sources = await sourcesOfPart(sql, wanted, part);
    const before = parts.slice(0, at);
    for (const { within, without, ...one } of sources.all) {
      all.push({ ...one, within: [...within, part], without: [...without, ...before] });
    }
  }
  return all.length > sourcesMax || isEverything({ all }) ? everything : { all };
}

/** Looking up the terms of a token costs as much as reading so many tokens of one term. */
const lookUpCost = 20;

async function fewest(sql: Sql, wanted: TokenQuery, choices: readonly Sources[]): Promise<Sources> {
  if (choices.length < 2) return choices[0] ?? everything;
  let best = everything;
  let bestSize = Infinity;
  for (const choice of choices) {
    const { items } = choice;
    const size = items === undefined ? await sizeOf(sql, wanted, choice) : items * lookUpCost;
    if (size < bestSize) [best, bestSize] = [choice, size];
  }
  return best;
}

/** Counts what would be read to find nothing: neither grants nor conditions are looked at. */
async function sizeOf(sql: Sql, wanted: TokenQuery, sources: Sources): Promise<number> {
  const all = { ...wanted, grants: revealAll, condition: anything };
  const { text, values } = await orderedTokens(all, sources);
  return (await countUpTo(sql, text, values)).items;
}

const revealAll = [{ container: '/', transform: 'reveal' }] as const;
const anything: Condition = { kind: 'all', of: [] };

/**
 * The statement for the wanted tokens in the order of lists. Each source is read in its order and no
 * further than needed.
 */
export async function orderedTokens(
  wanted: TokenQuery,
  sources: Sources,
  { after, limit }: Partial<Omit<Part, 'skipped'>> = {},
): Promise<{ readonly text: string; readonly values: readonly unknown[] }> {
  const values = new StatementValues(wanted.tenantId);
  const tests: string[] = [];
  if (after) {
    const at = values.place(after.at);
    tests.push(
      `t.created_at <= ${at} AND (t.created_at < ${at} OR t.id > ${values.place(after.id)})`,
    );
  }
  const order = `ORDER BY at DESC, id ${limit === undefined ? '' : `LIMIT ${limit}`}`;
  const parts: string[] = [];
  for (const source of sources.all) {
    const { relation, where } = await sourceSql(source, { ...wanted, values });
    parts.push(`(SELECT t.id, t.created_at AS at FROM ${relation} t
      WHERE ${[...where, ...tests].join(' AND ')} ${order})`);
  }
  const none = 'SELECT id, created_at AS at FROM tokens WHERE tenant_id = $1 AND false';
  const text = `SELECT id, at FROM (${parts.join(' UNION ALL ') || none}) found ${order}`;
  return { text, values: values.all };
}

/** Says which tokens the sources have, in the words of a search. */
export const tokensOf = ({ all }: Sources): string =>
  `each token of ${[...new Set(all.map(nameOf))].join(' and of ')}`;

function nameOf(source: Source): string {
  switch (source.kind) {
    case 'all':
      return 'the tenant';
    case 'group':
      return 'these containers and types';
    case 'column':
      return `this ${source.of.column}`;
    case 'term':
      return source.of.kind === 'metadata' ? `metadata.${source.of.name}` : 'this data';
  }
}

async function sourceSql(
  source: Source,
  terms: Terms,
): Promise<{ readonly relation: string; readonly where: string[] }> {
  const { values } = terms;
  const rows: Terms = {
    ...terms,
    ...(source.kind === 'term' && { met: source.of, areTerms: true }),
    ...(source.kind === 'column' && { met: source.of }),
  };
  const where = [await wantedSql(rows)];
  for (const one of source.within) where.push(await conditionSql(one, rows));
  for (const other of source.without) {
    where.push(`NOT coalesce(${await conditionSql(other, rows)}, false)`);
  }
  switch (source.kind) {
    case 'all':
      return { relation: 'tokens', where };
    case 'group': {
      const { container, type } = source.group;
      where.push(`t.container = ${values.place(container)} AND t.type = ${values.place(type)}`);
      return { relation: 'tokens', where };
    }
    case 'column':
      where.push(equalsSql(source.of, terms));
      return { relation: 'tokens', where };
    case 'term':
      where.push(await sourceTermSql(source.of, terms));
      return { relation: termsAsTokens, where };
  }
}

const termsAsTokens = `(SELECT tenant_id, term, token_id AS id, created_at, container, type,
  expires_at FROM token_terms)`;
