import { pauses } from '@glovebox/expressions';
import { batchBytesMax, smallAnswerBytesMax } from '../shares/page-shares';

/** A part of a list. Its rows are read while they are sent (send-page.ts). */
export class Page {
  constructor(
    readonly pagination: object,
    readonly rows: PageRows,
    /** Further members of the answer. */
    readonly about: object = {},
  ) {}
}

/** The rows of a page, each as JSON. No connection to Postgres is held between two batches. */
export interface PageRows {
  /** All of them, or undefined where they are large together. */
  whenSmall(): Promise<readonly Buffer[] | undefined>;
  inBatches(): AsyncIterator<readonly Buffer[], void>;
}

/** Names the rows that are wanted, in order, and how much of them. */
export interface Portion {
  readonly ids: readonly string[];
  readonly bytesMax: number;
  /** True: all rows or, where they have more bytes, none. False: the first of them, one at least. */
  readonly isWhole: boolean;
}

/** Rows whose sizes are not known are looked at for a batch. */
const firstLook = 20;

/** The rows with these ids. Rows that are gone by then, or of which nothing is shown, are left out. */
export function rowsOf<Row extends { readonly id: string }>(
  ids: readonly string[],
  read: (portion: Portion) => Promise<readonly Row[]>,
  show: (row: Row) => unknown,
): PageRows {
  const readBatch = async (wanted: readonly string[]) => {
    const rows = await read({ ids: wanted, bytesMax: batchBytesMax, isWhole: false });
    return { count: rows.length, last: rows.at(-1)?.id, json: await toJson(rows, show) };
  };
  return {
    async whenSmall() {
      if (ids.length === 0) return [];
      const rows = await read({ ids, bytesMax: smallAnswerBytesMax, isWhole: true });
      return rows.length === 0 ? undefined : toJson(rows, show);
    },
    async *inBatches() {
      let look = firstLook;
      for (let next = 0; next < ids.length;) {
        const { count, last, json } = await readBatch(ids.slice(next, next + look));
        yield json;
        next = last === undefined ? next + look : ids.indexOf(last, next) + 1;
        look = 2 * count || firstLook;
      }
    },
  };
}

/** Lets other requests be served between two rows. */
export async function toJson<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  show: (row: Row) => unknown,
): Promise<Buffer[]> {
  const pause = pauses();
  const json: Buffer[] = [];
  for await (const row of rows) {
    const item = await show(row);
    if (item !== undefined) json.push(Buffer.from(JSON.stringify(item)));
    await pause();
  }
  return json;
}
