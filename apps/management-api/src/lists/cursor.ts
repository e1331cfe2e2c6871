import { lowestIdAt } from '@glovebox/database';
import type { QueryFilters } from './query-filters';
import { readSize, requireKnown } from './listing';
import { Page, type PageRows } from './page';

/** The part of a log that a list is asked for. The cursor is the id of the last entry seen. */
export interface CursorQuery {
  readonly size: number;
  readonly after: string | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

export function readCursorQuery(
  query: URLSearchParams,
  errors: Record<string, string[]>,
  filters: QueryFilters,
  isFilter: (name: string) => boolean,
): CursorQuery {
  requireKnown(query, (name) => ['size', 'after', 'from', 'to'].includes(name) || isFilter(name));
  return {
    size: readSize(query, errors),
    after: filters.uuid('after'),
    from: filters.instant('from'),
    to: filters.instant('to'),
  };
}

/** Builds a condition of a statement, whose values are parameters. */
export class Conditions {
  readonly values: unknown[];
  readonly #tests: string[] = [];

  /** Another condition of the same statement shares its parameters. */
  constructor(other?: Conditions) {
    this.values = other?.values ?? [];
  }

  /** `test` ends where the value goes. Undefined is no condition. */
  add(test: string, value: unknown): this {
    if (value !== undefined) this.#tests.push(`${test} ${this.parameter(value)}`);
    return this;
  }

  /** Restricts the ids, which begin with their time, to the part that is asked for. */
  addRange({ after, from, to }: Partial<CursorQuery>): this {
    return this.add('id <', after)
      .add('id >=', from && lowestIdAt(from.getTime()))
      .add('id <', to && lowestIdAt(to.getTime() + 1));
  }

  parameter(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  toString(): string {
    return this.#tests.join(' AND ');
  }
}

/** A part of a log, the newest first. The id that only shows that there is more is cut off. */
export function toCursorPage(
  { size }: CursorQuery,
  ids: readonly string[],
  rowsOf: (ids: readonly string[]) => PageRows,
): Page {
  const after = ids.length > size ? ids[size - 1] : undefined;
  const pagination = { page_size: size, ...(after === undefined ? {} : { after }) };
  return new Page(pagination, rowsOf(ids.slice(0, size)));
}
