import { Problem } from '@glovebox/problems';
import { Shares } from '@glovebox/shares';
import type { Sql } from '@glovebox/database';
import {
  foreseeUse,
  readUse,
  readUsesTogether,
  type AskedUse,
  type SealedToken,
} from './read-and-record';

/** Uses that wait for a statement or are in one, in one process. */
export const usesMax = 512;
/** How long a use may wait for its statement. */
const useWaitMs = 2_000;
/** Statements of uses at once, in one process. The last is kept for tenants that are in none. */
export const statementsMax = 4;
/** Statements at once that hold uses of one tenant. */
export const tenantStatementsMax = 2;
/** Uses, tokens and grants of one statement. */
export const usesTogetherMax = 64;
export const tokensTogetherMax = 400;
const grantsTogetherMax = 500;
/**
 * Sealed bytes of one use in a shared statement. A larger use asks again alone, so that no other
 * use waits for it.
 */
const bytesTogetherMax = 32 * 1024;
/** Up to so many tokens, a use without company is quicker in the statement for one. */
const tokensAloneMax = 16;

interface Waiting {
  readonly asked: AskedUse;
  readonly since: number;
  /** Undefined if the use must ask alone. */
  resolve(tokens: SealedToken[] | undefined): void;
  reject(error: unknown): void;
}

/** Reads the tokens of a use and records the use. */
export interface UseReader {
  read(asked: AskedUse): Promise<SealedToken[]>;
  /** Judges and records without reading a value. */
  foresee(asked: AskedUse): Promise<SealedToken[]>;
}

/** A reader whose uses share no statement. Each takes a connection of its tenant. */
export const usesOneByOne = (shareOf: (tenantId: string) => Sql): UseReader => ({
  read: (asked) => readUse(shareOf(asked.use.tenantId), asked),
  foresee: (asked) => foreseeUse(shareOf(asked.use.tenantId), asked),
});

/** A pool of connections that tenants share. */
interface SharedPool {
  shareOf(owner: string): Sql;
  readonly shares: Pick<Shares, 'hasRoom'>;
}

/**
 * Sends uses of tokens together that come in one turn of the event loop, or while all statements
 * are under way. A statement, its transaction and the wait for the disk cost as much for many uses
 * as for one. Tenants take turns. Each has its share of the waiting uses and of the statements.
 */
export class TokenUses implements UseReader {
  readonly places = new Shares({ places: usesMax });
  /** Waiting uses by tenant; the tenant whose turn is next comes first. */
  readonly #lines = new Map<string, Waiting[]>();
  #statements = 0;
  /** Statements that hold uses of the tenant. */
  readonly #statementsOf = new Map<string, number>();
  #isDue = false;
  #look: NodeJS.Timeout | undefined;

  /** For statements of several tenants: a share of the pool that no tenant owns. */
  readonly #sharedSql: Sql;

  constructor(private readonly pool: SharedPool) {
    this.#sharedSql = pool.shareOf('uses of tokens');
  }

  async read(asked: AskedUse): Promise<SealedToken[]> {
    const { tenantId } = asked.use;
    const { bytesMax, atOnceMax } = asked.limits;
    // A use that may be large already has its place to open much. A tenant that holds its share of
    // the connections waits in its own line for them, as with any other statement.
    if (atOnceMax >= bytesMax || !this.pool.shares.hasRoom(tenantId)) return this.#readAlone(asked);
    const release = this.places.takeNow(tenantId);
    try {
      return (await this.#readSoon(asked)) ?? (await this.#readAlone(asked));
    } finally {
      release();
    }
  }

  foresee(asked: AskedUse): Promise<SealedToken[]> {
    return foreseeUse(this.pool.shareOf(asked.use.tenantId), asked);
  }

  #readAlone(asked: AskedUse): Promise<SealedToken[]> {
    return readUse(this.pool.shareOf(asked.use.tenantId), asked);
  }

  #readSoon(asked: AskedUse): Promise<SealedToken[] | undefined> {
    return new Promise((resolve, reject) => {
      const waiting = { asked, since: performance.now(), resolve, reject };
      const line = this.#lines.get(asked.use.tenantId);
      if (line) line.push(waiting);
      else this.#lines.set(asked.use.tenantId, [waiting]);
      this.#look ??= this.#lookLater();
      this.#sendSoon();
    });
  }

  /** Sends when this turn of the event loop has brought all its uses. */
  #sendSoon(): void {
    if (this.#isDue || this.#lines.size === 0 || this.#statements === statementsMax) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      while (this.#statements < statementsMax) {
        const together = this.#takeTogether();
        if (together.length === 0) break;
        void this.#send(together);
      }
    });
  }

  async #send(together: readonly Waiting[]): Promise<void> {
    const tenantIds = new Set(together.map(({ asked }) => asked.use.tenantId));
    for (const tenantId of tenantIds) this.#count(tenantId, 1);
    this.#statements += 1;
    await this.#serve(together);
    this.#statements -= 1;
    for (const tenantId of tenantIds) this.#count(tenantId, -1);
    this.#sendSoon();
  }

  #count(tenantId: string, change: number): void {
    const statements = (this.#statementsOf.get(tenantId) ?? 0) + change;
    if (statements === 0) this.#statementsOf.delete(tenantId);
    else this.#statementsOf.set(tenantId, statements);
  }

  /** One statement stays free of every busy tenant: slow tokens of one tenant hold up no other. */
  #mayTake(tenantId: string): boolean {
    const own = this.#statementsOf.get(tenantId) ?? 0;
    return own === 0 || (own < tenantStatementsMax && this.#statements < statementsMax - 1);
  }

  /** Takes one use of each tenant in turn, until the statement is full. */
  #takeTogether(): Waiting[] {
    const together: Waiting[] = [];
    let tokens = 0;
    let grants = 0;
    // A tenant with more uses goes to the end of the map, where this loop reaches it again.
    for (const [tenantId, line] of this.#lines) {
      const [first] = line;
      if (!first || !this.#mayTake(tenantId)) continue;
      tokens += first.asked.tokenIds.length;
      grants += first.asked.grants.length;
      const isFull = tokens > tokensTogetherMax || grants > grantsTogetherMax;
      if (isFull && together.length > 0) break;
      together.push(first);
      line.shift();
      this.#lines.delete(tenantId);
      if (line.length > 0) this.#lines.set(tenantId, line);
      if (together.length === usesTogetherMax) break;
    }
    return together;
  }

  async #serve(together: readonly Waiting[]): Promise<void> {
    const [only] = together;
    if (only && together.length === 1 && only.asked.tokenIds.length <= tokensAloneMax) {
      const reading = readUse(this.#sharedSql, only.asked).catch(refuse);
      return reading.then(only.resolve, only.reject);
    }
    const small = together.map(({ asked }) => ({
      ...asked,
      limits: {
        ...asked.limits,
        atOnceMax: Math.min(asked.limits.atOnceMax, bytesTogetherMax),
      },
    }));
    try {
      const answers = await readUsesTogether(this.#sharedSql, small).catch(refuse);
      together.forEach(({ resolve }, at) => resolve(answers[at]));
    } catch (error) {
      // Only if Postgres has said that it did nothing. An outage may have come after the record.
      if (isRefused(error)) together.forEach(({ resolve }) => resolve(undefined));
      else together.forEach(({ reject }) => reject(error));
    }
  }

  #lookLater(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#look = undefined;
      const before = performance.now() - useWaitMs;
      for (const [tenantId, line] of this.#lines) {
        const isOwn = this.#statementsOf.has(tenantId);
        while (line[0] && line[0].since <= before) {
          line.shift()?.reject(isOwn ? tooMany() : unavailable());
        }
        if (line.length === 0) this.#lines.delete(tenantId);
      }
      if (this.#lines.size > 0) this.#look = this.#lookLater();
    }, useWaitMs / 4).unref();
  }
}

/**
 * The tenant of a use has not taken the connections that are missing: for it, this is an outage.
 */
function refuse(error: unknown): never {
  if (error instanceof Problem && error.code === 'share_exhausted') throw unavailable(error);
  throw error;
}

/** The tenant waits for its own uses. */
function tooMany(): Problem {
  return new Problem('share_exhausted', { retryAfterSeconds: 1 });
}

function unavailable(cause?: unknown): Problem {
  return new Problem('service_unavailable', { retryAfterSeconds: 1, cause });
}

/** An SQLSTATE says that the transaction was rolled back and nothing is recorded. */
function isRefused(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || error instanceof Problem) return false;
  return 'code' in error && typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code);
}
