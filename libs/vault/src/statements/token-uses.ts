import { Problem } from '@glovebox/problems';
import { Shares } from '@glovebox/shares';
import type { Sql } from '@glovebox/database';
import { readUse, readUsesTogether, type AskedUse, type SealedToken } from './read-and-record';

/** Uses that wait or are under way in one process. */
export const usesMax = 512;
/** How long a use may wait for its statement. */
const useWaitMs = 2_000;
/** Statements of uses at once, in one process; the last one is left to tenants that have no use in any. */
export const statementsMax = 4;
/** Of those, statements with uses of one tenant. */
export const tenantStatementsMax = 2;
/** Of one statement: uses, their tokens, their grants. */
export const usesTogetherMax = 64;
export const tokensTogetherMax = 400;
const grantsTogetherMax = 500;
/** Sealed bytes of one of them: one that would get more asks again by itself, and makes nobody wait. */
const bytesTogetherMax = 32 * 1024;
/** One that is by itself is quicker in the statement for one up to so many tokens. */
const tokensAloneMax = 16;

interface Waiting {
  readonly asked: AskedUse;
  readonly since: number;
  /** Undefined: it has to ask alone. */
  resolve(tokens: SealedToken[] | undefined): void;
  reject(error: unknown): void;
}

/** Reads the tokens of a use, and records it. */
export interface UseReader {
  read(asked: AskedUse): Promise<SealedToken[]>;
}

/** A reader whose uses share no statement: each takes a connection of its tenant. */
export const usesOneByOne = (of: (tenantId: string) => Sql): UseReader => ({
  read: (asked) => readUse(of(asked.use.tenantId), asked),
});

/** A pool of connections that tenants share. */
interface SharedPool {
  of(owner: string): Sql;
  readonly shares: Pick<Shares, 'hasRoom'>;
}

/**
 * Uses of tokens that come in one turn of the event loop, or while all statements are under way, go to
 * Postgres together: a statement, its transaction and the wait for the disk cost as much for many as
 * for one. Tenants take turns; each has its share of those that may wait, and of the statements.
 */
export class TokenUses implements UseReader {
  readonly places = new Shares({ places: usesMax });
  /** By tenant, the one whose turn is next first. */
  readonly #lines = new Map<string, Waiting[]>();
  #statements = 0;
  /** By tenant, statements with uses of it. */
  readonly #statementsOf = new Map<string, number>();
  #isDue = false;
  #look: NodeJS.Timeout | undefined;

  /** For statements of several tenants: the part of the pool that none of them owns. */
  readonly #sharedSql: Sql;

  constructor(private readonly pool: SharedPool) {
    this.#sharedSql = pool.of('uses of tokens');
  }

  async read(asked: AskedUse): Promise<SealedToken[]> {
    const { tenantId } = asked.use;
    const { bytesMax, atOnceMax } = asked.limits;
    // One that may be large has waited for its place already. A tenant that has taken its share of the
    // connections waits in its own line, here as with any other statement.
    if (atOnceMax >= bytesMax || !this.pool.shares.hasRoom(tenantId)) return this.#readAlone(asked);
    const release = this.places.takeNow(tenantId);
    try {
      return (await this.#readSoon(asked)) ?? (await this.#readAlone(asked));
    } finally {
      release();
    }
  }

  #readAlone(asked: AskedUse): Promise<SealedToken[]> {
    return readUse(this.pool.of(asked.use.tenantId), asked);
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

  /** After all that this turn of the event loop brings. */
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

  /** However slow what a tenant asks for is, others find a statement that it has no part in. */
  #mayTake(tenantId: string): boolean {
    const own = this.#statementsOf.get(tenantId) ?? 0;
    return own === 0 || (own < tenantStatementsMax && this.#statements < statementsMax - 1);
  }

  /** One use of each tenant in turn, until the statement is full. */
  #takeTogether(): Waiting[] {
    const together: Waiting[] = [];
    let tokens = 0;
    let grants = 0;
    // A tenant with more goes to the end, where this loop comes by again.
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
      // Only where Postgres has said that it did nothing: an outage may have come after the record.
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

/** That all connections are taken is nothing that the tenant of one of these uses has done. */
function refuse(error: unknown): never {
  if (error instanceof Problem && error.code === 'share_exhausted') throw unavailable(error);
  throw error;
}

/** It waits for what it has asked for itself. */
function tooMany(): Problem {
  return new Problem('share_exhausted', { retryAfterSeconds: 1 });
}

function unavailable(cause?: unknown): Problem {
  return new Problem('service_unavailable', { retryAfterSeconds: 1, cause });
}

/** By an SQLSTATE: the transaction is rolled back, and nothing is recorded. */
function isRefused(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || error instanceof Problem) return false;
  return 'code' in error && typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code);
}
