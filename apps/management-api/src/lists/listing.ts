import type { EntityManager, SelectQueryBuilder } from 'typeorm';
import {
  countUpTo,
  findPage,
  readCursor,
  type FoundPage,
  type PageQuery,
  type Pagination,
  type Part,
} from '@glovebox/database';
import { didYouMean, invalid, mayBeData } from '@glovebox/problems';
import { asSql } from '../database/in-tenant';
import type { ResourceEntity } from '../entities/resource.entity';
import { queryReadBy } from '../http/request';
import { nameMax, slugMax } from '../validation/resource-limits';
import { isUuid } from '../validation/uuid';

/** The page and the filters that a list is asked for. */
export interface ListQuery extends PageQuery {
  readonly ids: readonly string[];
  /** A pattern in which `*` is the wildcard. */
  readonly name: string | undefined;
  readonly slug: string | undefined;
}

const pageSizeMax = 100;
export const listIdsMax = 1_000;
/** The error names at most this many unknown parameters, and this many characters of each. */
const shownNames = 20;
const shownCharacters = 64;

/** The checked query of a list. */
export const Listing = queryReadBy((query) => readListQuery(query));

export function readListQuery(query: URLSearchParams, more: readonly string[] = []): ListQuery {
  const errors: Record<string, string[]> = {};
  const page = readPage(query, errors, isUuid, ['id', 'name', 'slug', ...more]);
  const ids = givenValues(query, 'id');
  if (!ids.every(isUuid)) errors.id = ['must be a UUID'];
  if (ids.length > listIdsMax) errors.id = [`must be given at most ${listIdsMax} times`];
  const name = query.get('name') || undefined;
  if (name !== undefined && (name.length > nameMax || name.includes('\0'))) {
    errors.name = [`must be at most ${nameMax} characters, without NUL`];
  }
  const [slug, ...otherSlugs] = givenValues(query, 'slug');
  if (otherSlugs.length > 0 || (slug !== undefined && slug.length > slugMax)) {
    errors.slug = [`must be given once, with at most ${slugMax} characters`];
  }
  if (slug?.includes('\0')) errors.slug = ['must not contain NUL'];
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return { ...page, ids: ids.map((id) => id.toLowerCase()), name, slug };
}

/** The values of a filter that may be given several times. An empty one is no filter. */
export const givenValues = (query: URLSearchParams, name: string): string[] =>
  query.getAll(name).filter((value) => value !== '');

/** Reads the page of a list with these filters, whose entries have such ids. */
export function readPage(
  query: URLSearchParams,
  errors: Record<string, string[]>,
  isId: (id: string) => boolean,
  filters: readonly string[],
): PageQuery {
  requireKnown(query, ['page', 'size', 'after', ...filters]);
  const page = query.get('page') ?? undefined;
  const [after, ...others] = query.getAll('after');
  return {
    page: readWhole(query, 'page', { fallback: 1, max: Number.MAX_SAFE_INTEGER }, errors),
    size: readSize(query, errors),
    after: readCursor({ page, after: others.length > 0 ? null : after || undefined }, isId, errors),
  };
}

export const readSize = (query: URLSearchParams, errors: Record<string, string[]>): number =>
  readWhole(query, 'size', { fallback: 20, max: pageSizeMax }, errors);

/**
 * Refuses every other parameter, because ignoring an unknown filter would show everything that it
 * was meant to exclude. A known name that ends in a dot begins those of many filters.
 */
export function requireKnown(query: URLSearchParams, known: readonly string[]): void {
  const isKnown = (name: string): boolean =>
    known.some((one) => name === one || (one.endsWith('.') && name.startsWith(one)));
  const unknown = [...query.keys()].filter((name) => !isKnown(name)).slice(0, shownNames);
  if (unknown.length === 0) return;
  const errors = unknown.map((name) => {
    if (mayBeData(name))
      return ['query', ['has a parameter that is no filter of this list']] as const;
    const hint = didYouMean(name, known);
    return [name.slice(0, shownCharacters), [`is not a filter of this list${hint}`]] as const;
  });
  throw invalid(Object.fromEntries(errors));
}

/** Reads a parameter that must be a whole number from 1, given once. */
function readWhole(
  query: URLSearchParams,
  name: string,
  { fallback, max }: { fallback: number; max: number },
  errors: Record<string, string[]>,
): number {
  const [text, ...others] = query.getAll(name);
  if (text === undefined) return fallback;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (others.length === 0 && number >= 1 && number <= max) return number;
  errors[name] = [
    max === Number.MAX_SAFE_INTEGER
      ? 'must be a whole number from 1'
      : `must be a whole number from 1 to ${max}`,
  ];
  return fallback;
}

/**
 * Finds one page of a tenant's rows, newest first. Counting and paging use the index alone, however
 * far the page is. The rows are read while they are sent.
 */
export async function listIds(
  manager: EntityManager,
  entity: ResourceEntity,
  tenantId: string,
  query: ListQuery,
  more: Readonly<Record<string, string>> = {},
): Promise<{ ids: string[]; pagination: Pagination }> {
  const { entries, pagination } = await findRows(manager, entity, tenantId, query, more);
  return { ids: entries.map(({ id }) => id), pagination };
}

/** Finds a page in the index. */
function findRows(
  manager: EntityManager,
  entity: ResourceEntity,
  tenantId: string,
  query: ListQuery,
  more: Readonly<Record<string, string>>,
): Promise<FoundPage> {
  const matching = matchingRows(manager, entity, tenantId, query, more);
  return findPage(query, {
    list: { tenantId, asked: matching.getQueryAndParameters() },
    find: (part) => behind(matching, part).offset(part.skipped).limit(part.limit).getRawMany(),
    count: () => countUpTo(asSql(manager), ...matching.getQueryAndParameters()),
  });
}

/** The statement for the ids of all rows that a list is asked for. */
export function matchingRows(
  manager: EntityManager,
  entity: ResourceEntity,
  tenantId: string,
  query: ListQuery,
  more: Readonly<Record<string, string>> = {},
): SelectQueryBuilder<object> {
  const matching = manager
    .createQueryBuilder(entity, 'r')
    .select('r.id', 'id')
    .addSelect('r.createdAt', 'at')
    .where('r.tenantId = :tenantId', { tenantId })
    .orderBy('r.createdAt', 'DESC')
    .addOrderBy('r.id', 'ASC');
  if (query.ids.length > 0) matching.andWhere('r.id = ANY (:ids)', { ids: query.ids });
  if (query.name !== undefined) {
    matching.andWhere('lower(r.name) LIKE lower(:pattern)', { pattern: likePattern(query.name) });
  }
  if (query.slug !== undefined) matching.andWhere('r.slug = :slug', { slug: query.slug });
  for (const [column, value] of Object.entries(more)) {
    matching.andWhere(`r.${column} = :${column}`, { [column]: value });
  }
  return matching;
}

function behind(matching: SelectQueryBuilder<object>, { after }: Part): SelectQueryBuilder<object> {
  const rows = matching.clone();
  if (!after) return rows;
  return rows.andWhere('r.createdAt <= :at AND (r.createdAt < :at OR r.id > :seen)', {
    at: after.at,
    seen: after.id,
  });
}

/** `*` is the only wildcard. The wildcards of LIKE are ordinary characters. */
function likePattern(name: string): string {
  return name.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%');
}
