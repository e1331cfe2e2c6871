import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { invalid } from '@glovebox/problems';
import type { ResourceEntity } from '../entities/resource.entity';
import { requestOf } from '../http/request';
import { nameMax } from '../validation/limits';
import { isUuid } from '../validation/uuid';

export interface PageQuery {
  readonly page: number;
  readonly size: number;
}

/** What a list was asked for: which page, and which of all. */
export interface ListQuery extends PageQuery {
  readonly ids: readonly string[];
  /** With `*` as the wildcard. */
  readonly name: string | undefined;
}

export interface Page<Item> {
  readonly pagination: {
    readonly total_items: number;
    readonly page_number: number;
    readonly page_size: number;
    readonly total_pages: number;
  };
  readonly data: readonly Item[];
}

const pageSizeMax = 100;
const listIdsMax = 1_000;
/** So much is said of parameters that are not known. */
const shownNames = 20;
const shownCharacters = 64;

/** The query of a list, checked. */
export const Listing = createParamDecorator((_: unknown, context: ExecutionContext) =>
  readListQuery(new URL(requestOf(context).originalUrl, 'http://localhost').searchParams),
);

export function readListQuery(query: URLSearchParams, more: readonly string[] = []): ListQuery {
  const errors: Record<string, string[]> = {};
  const page = readPage(query, errors, (name) => ['id', 'name', ...more].includes(name));
  const ids = query.getAll('id');
  if (!ids.every(isUuid)) errors.id = ['must be a UUID'];
  if (ids.length > listIdsMax) errors.id = [`must be given at most ${listIdsMax} times`];
  const name = query.get('name') ?? undefined;
  if (name !== undefined && (name.length > nameMax || name.includes('\0'))) {
    errors.name = [`must be at most ${nameMax} characters, without NUL`];
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return { ...page, ids: ids.map((id) => id.toLowerCase()), name };
}

/**
 * Which page, of a list with these filters. Every other parameter is refused: a filter that the list
 * does not know would otherwise be answered with everything that it was to leave out.
 */
export function readPage(
  query: URLSearchParams,
  errors: Record<string, string[]>,
  isFilter: (name: string) => boolean,
): PageQuery {
  const isKnown = (name: string): boolean => name === 'page' || name === 'size' || isFilter(name);
  const unknown = [...query.keys()].filter((name) => !isKnown(name)).slice(0, shownNames);
  if (unknown.length > 0) {
    const named = unknown.map((name) => name.slice(0, shownCharacters));
    throw invalid(
      Object.fromEntries(named.map((name) => [name, ['is not a filter of this list']])),
    );
  }
  return {
    page: readWhole(query, 'page', { fallback: 1, max: Number.MAX_SAFE_INTEGER }, errors),
    size: readWhole(query, 'size', { fallback: 20, max: pageSizeMax }, errors),
  };
}

/** A parameter that is a whole number from 1, given once. */
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
 * One page of a tenant's rows, the newest first. Counting and leafing go through the index alone,
 * however far; only then are the rows of the page read.
 */
export async function listRows<Entity extends ResourceEntity>(
  manager: EntityManager,
  entity: Entity,
  tenantId: string,
  query: ListQuery,
  more: Readonly<Record<string, string>> = {},
): Promise<{ rows: InstanceType<Entity>[]; total: number }> {
  const { count, page } = listStatements(manager, entity, tenantId, query, more);
  const total = (await count.getRawOne<{ total: number }>())?.total ?? 0;
  if ((query.page - 1) * query.size >= total) return { rows: [], total };
  const ids = (await page.getRawMany<{ id: string }>()).map(({ id }) => id);
  const found = await manager
    .createQueryBuilder(entity, 'r')
    .where('r.tenantId = :tenantId AND r.id = ANY (:ids)', { tenantId, ids })
    .getMany();
  const byId = new Map(found.map((row) => [row.id, row as InstanceType<Entity>]));
  return { rows: ids.flatMap((id) => byId.get(id) ?? []), total };
}

/** The two statements behind a page. */
export function listStatements(
  manager: EntityManager,
  entity: ResourceEntity,
  tenantId: string,
  query: ListQuery,
  more: Readonly<Record<string, string>> = {},
) {
  const matching = manager.createQueryBuilder(entity, 'r').where('r.tenantId = :tenantId', {
    tenantId,
  });
  if (query.ids.length > 0) matching.andWhere('r.id = ANY (:ids)', { ids: query.ids });
  if (query.name !== undefined) {
    matching.andWhere('lower(r.name) LIKE lower(:pattern)', { pattern: likePattern(query.name) });
  }
  for (const [column, value] of Object.entries(more)) {
    matching.andWhere(`r.${column} = :${column}`, { [column]: value });
  }
  return {
    count: matching.clone().select('count(*)::int', 'total'),
    page: matching
      .select('r.id', 'id')
      .orderBy('r.createdAt', 'DESC')
      .addOrderBy('r.id', 'ASC')
      .offset((query.page - 1) * query.size)
      .limit(query.size),
  };
}

/** `*` is the only wildcard; what LIKE would take for one is an ordinary character. */
function likePattern(name: string): string {
  return name.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%');
}

export function toPage<Item>(
  { page, size }: PageQuery,
  total: number,
  data: readonly Item[],
): Page<Item> {
  return {
    pagination: {
      total_items: total,
      page_number: page,
      page_size: size,
      total_pages: Math.ceil(total / size),
    },
    data,
  };
}
