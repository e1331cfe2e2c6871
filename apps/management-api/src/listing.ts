import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { invalid } from '@glovebox/problems';
import { requestOf } from './http/request';
import { isUuid } from './validation/fields';

/** What a list was asked for: which page, and which of all. */
export interface ListQuery {
  readonly page: number;
  readonly size: number;
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

const sizeMax = 100;
const idsMax = 1_000;

/** The query of a list, checked. Parameters that the list does not know are ignored. */
export const Listing = createParamDecorator((_: unknown, context: ExecutionContext) =>
  readListQuery(new URL(requestOf(context).originalUrl, 'http://localhost').searchParams),
);

export function readListQuery(query: URLSearchParams): ListQuery {
  const errors: Record<string, string[]> = {};
  const page = readWhole(query, 'page', { fallback: 1, max: Number.MAX_SAFE_INTEGER }, errors);
  const size = readWhole(query, 'size', { fallback: 20, max: sizeMax }, errors);
  const ids = query.getAll('id');
  if (!ids.every(isUuid)) errors.id = ['must be a UUID'];
  if (ids.length > idsMax) errors.id = [`must be given at most ${idsMax} times`];
  const name = query.get('name') ?? undefined;
  if (name !== undefined && (name.length > 200 || name.includes('\0'))) {
    errors.name = ['must be at most 200 characters, without NUL'];
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return { page, size, ids: ids.map((id) => id.toLowerCase()), name };
}

/** A parameter that is a whole number from 1, given once. */
export function readWhole(
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

type Resource = new () => { id: string; tenantId: string; createdAt: Date };

/** One page of a tenant's rows, the newest first, by the index that is made for this order. */
export async function listRows<Entity extends Resource>(
  manager: EntityManager,
  entity: Entity,
  tenantId: string,
  query: ListQuery,
  more: Readonly<Record<string, string>> = {},
): Promise<{ rows: InstanceType<Entity>[]; total: number }> {
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
  const counted = await matching
    .clone()
    .select('count(*)::int', 'total')
    .getRawOne<{ total: number }>();
  const total = counted?.total ?? 0;
  const offset = (query.page - 1) * query.size;
  if (offset >= total) return { rows: [], total };
  const rows = await matching
    .orderBy('r.createdAt', 'DESC')
    .addOrderBy('r.id', 'DESC')
    .offset(offset)
    .limit(query.size)
    .getMany();
  return { rows: rows as InstanceType<Entity>[], total };
}

/** `*` is the only wildcard; what LIKE would take for one is an ordinary character. */
function likePattern(name: string): string {
  return name.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%');
}

export function toPage<Item>(
  { page, size }: Pick<ListQuery, 'page' | 'size'>,
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
