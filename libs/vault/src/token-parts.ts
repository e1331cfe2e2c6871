import type { Sql } from '@glovebox/database';
import type { Sealer } from '@glovebox/seal';
import type { LargeOpenings } from './openings/large-openings';
import { openedAtOnceMax } from './openings/opening-budget';
import {
  isLookDeferred,
  openRows,
  readRows,
  showTokens,
  type TokenLook,
  type Viewer,
} from './sights/shown-tokens';
import type { LookRow } from './statements/read-and-record';
import type { TokenView } from './token';

/** Bytes of rows that are read at once. A larger row comes alone. */
const partBytesMax = 512 * 1024;

type Work<Result> = (tokens: AsyncIterable<TokenView>) => Promise<Result>;

/** The tokens of a page, shown as its grants say: all at once, or part by part. */
export class TokenParts {
  #deferred: readonly LookRow[] = [];

  constructor(
    private readonly sealer: Sealer,
    private readonly largeOpenings: LargeOpenings,
    private readonly actor: Viewer,
    private readonly look: TokenLook,
    private readonly ids: readonly string[],
  ) {}

  /** All tokens. What they hold must have room in memory together. */
  all(sql: Sql): Promise<TokenView[]> {
    return showTokens(sql, this.sealer, this.actor, this.look, this.ids, this.largeOpenings);
  }

  /**
   * Works on all tokens if they are small together. Otherwise nothing is released, and the answer is
   * undefined. Refuses a page that would open too much.
   */
  async whenSmall<Result>(sql: Sql, work: Work<Result>): Promise<Result | undefined> {
    if (this.ids.length === 0) return work(this.#open([]));
    const rows = await readRows(sql, this.actor, this.look, this.ids, openedAtOnceMax);
    if (!isLookDeferred(rows)) return work(this.#open(rows));
    this.#deferred = rows;
    return undefined;
  }

  /**
   * Works on the tokens of a page that is not small, part by part, each in a place of
   * `largeOpenings` that the caller holds. The statement that reads a part also records it.
   */
  async *inParts<Result>(sql: Sql, work: Work<Result>): AsyncGenerator<Result> {
    const { actor, look } = this;
    const partsLeft = partsOf(this.#deferred);
    for (let ids = partsLeft.shift(); ids; ids = partsLeft.shift()) {
      const atOnceMax = ids.length === 1 ? Infinity : partBytesMax;
      const rows = await readRows(sql, actor, look, ids, atOnceMax);
      // They have grown since their sizes were read.
      if (isLookDeferred(rows)) partsLeft.unshift(...partsOf(rows));
      else yield work(this.#open(rows));
    }
  }

  /** Opens one token after the other: parsed, it takes up to thirty times its bytes. */
  async *#open(rows: readonly LookRow[]): AsyncGenerator<TokenView> {
    for (const row of rows) yield* await openRows(this.sealer, this.actor.principal, [row]);
  }
}

/** Divides rows into parts of bounded bytes, in their order. */
function partsOf(rows: readonly LookRow[]): string[][] {
  const parts: string[][] = [];
  let bytesLeft = 0;
  for (const { id, bytes } of rows) {
    if (bytes > bytesLeft) {
      parts.push([]);
      bytesLeft = partBytesMax;
    }
    parts.at(-1)?.push(id);
    bytesLeft -= bytes;
  }
  return parts;
}
