import type { Sql } from './database';
import { Places, type Entry, type Find, type ListName } from './places';

/** A list is counted up to here. Above it, the number of its entries is estimated. */
const countedMax = 10_000;

/** The part of a list that is asked for: a page by its number, or what comes after a cursor. */
export interface PageQuery {
  readonly page: number;
  readonly size: number;
  readonly after?: Cursor | undefined;
}

/** The last entry that was seen, and how many were seen by then. */
interface Cursor extends Entry {
  readonly seen: number;
}

export interface Count {
  readonly items: number;
  readonly isEstimate: boolean;
}

/** The page in an answer. With `after` there is another page. */
export interface Pagination {
  readonly total_items: number;
  readonly total_items_is_estimate?: true;
  readonly page_number: number;
  readonly page_size: number;
  readonly total_pages: number;
  readonly after?: string;
}

export interface FoundPage {
  readonly entries: readonly Entry[];
  readonly pagination: Pagination;
}

const places = new Places();

/** Finds the entries of a page. The list is counted only where its end is not in sight. */
export async function findPage(
  query: PageQuery,
  {
    list,
    find,
    count,
  }: {
    readonly list: ListName;
    readonly find: Find;
    readonly count: () => Promise<Count>;
  },
): Promise<FoundPage> {
  const { size, after } = query;
  const before = after ? after.seen : (query.page - 1) * size;
  const limit = size + 1;
  const found = after
    ? await find({ after, skipped: 0, limit })
    : await places.find(list, before, limit, find);
  const entries = found.slice(0, size);
  const last = found.length > size ? entries.at(-1) : undefined;
  const seen = before + entries.length;
  const isSeen = last === undefined && (entries.length > 0 || before === 0);
  const { items, isEstimate } = isSeen ? { items: seen, isEstimate: false } : await count();
  const total = last ? Math.max(items, seen + 1) : Math.min(items, seen);
  return {
    entries,
    pagination: {
      total_items: total,
      ...(isEstimate && { total_items_is_estimate: true }),
      page_number: Math.floor(before / size) + 1,
      page_size: size,
      total_pages: Math.ceil(total / size),
      ...(last && { after: cursorText({ ...last, seen }) }),
    },
  };
}

const cursorText = ({ at, seen, id }: Cursor): string =>
  Buffer.from(`${at.getTime()}.${seen}.${id}`).toString('base64url');

/** Reads the cursor that is given in place of a page. What is wrong with it goes to `errors`. */
export function readCursor(
  { after, page }: { readonly after?: unknown; readonly page?: unknown },
  isId: (id: string) => boolean,
  errors: Record<string, readonly string[]>,
): Cursor | undefined {
  if (after === undefined) return undefined;
  const cursor = typeof after === 'string' ? parseCursor(after, isId) : undefined;
  if (!cursor) errors.after = ['must be the cursor that a page of this list ends with'];
  else if (page !== undefined) errors.after = ['must not be given together with page'];
  return cursor;
}

function parseCursor(text: string, isId: (id: string) => boolean): Cursor | undefined {
  const parts = /^(\d{1,14})\.(\d{1,15})\.(.+)$/.exec(Buffer.from(text, 'base64url').toString());
  if (!parts) return undefined;
  const [, at, seen, id = ''] = parts;
  const cursor = { at: new Date(Number(at)), seen: Number(seen), id };
  return isId(id) && cursorText(cursor) === text ? cursor : undefined;
}

/**
 * Counts up to `countedMax` rows of a statement whose rows come from an index in their order. Of
 * more, Postgres tells how many it expects.
 */
export async function countUpTo(
  sql: Sql,
  statement: string,
  values: readonly unknown[],
): Promise<Count> {
  const [counted] = await sql.query<{ items: number }>(
    `SELECT count(*)::int AS items FROM (${statement} LIMIT ${countedMax + 1}) counted`,
    values,
  );
  const items = counted?.items ?? 0;
  if (items <= countedMax) return { items, isEstimate: false };
  const estimated = await estimate(sql, statement, values);
  return { ...estimated, items: Math.max(items, estimated.items) };
}

/** Asks Postgres how many rows it expects of a statement. */
export async function estimate(
  sql: Sql,
  statement: string,
  values: readonly unknown[],
): Promise<Count> {
  const [plan] = await sql.query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(
    `EXPLAIN (FORMAT JSON) ${statement}`,
    values,
  );
  return { items: plan?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0, isEstimate: true };
}
