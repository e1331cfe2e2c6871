import type { Sql } from './database';
import { driverErrorOf } from './driver-error';

/** Calls of one statement. */
const callsMax = 50;
/** Bytes of one statement. A call that has more goes alone. */
const bytesMax = 1024 * 1024;
/** Statements of one kind at once. What comes meanwhile shares the next one. */
const statementsMax = 2;

/** How a statement takes its rows: it passes over those that others hold, or waits for them. */
export type Locking = 'FOR UPDATE SKIP LOCKED' | 'FOR UPDATE';

interface Shared<Call, Answer> {
  /** Answers in the order of the calls. Undefined: nothing was written for this call. */
  write(
    sql: Sql,
    calls: readonly Call[],
    locking: Locking,
  ): Promise<readonly (Answer | undefined)[]>;
  bytesOf(call: Call): number;
}

interface Waiting<Call, Answer> {
  readonly call: Call;
  readonly bytes: number;
  resolve(answer: Answer | undefined): void;
  reject(error: unknown): void;
}

/**
 * A statement that calls of one moment share, whatever their tenants. A call that comes alone does
 * not wait. No call waits for a row of another: shared statements pass over rows that are locked,
 * and a call whose row was passed over is repeated alone.
 */
export class SharedStatement<Call extends { readonly tenantId: string }, Answer> {
  /** By database. */
  readonly #queues = new WeakMap<Sql, Queue<Call, Answer>>();

  constructor(private readonly shared: Shared<Call, Answer>) {}

  /** Undefined: nothing was written for this call. */
  ask(sql: Sql, call: Call): Promise<Answer | undefined> {
    let queue = this.#queues.get(sql);
    if (!queue) this.#queues.set(sql, (queue = new Queue(sql, this.shared)));
    return queue.ask(call);
  }
}

class Queue<Call extends { readonly tenantId: string }, Answer> {
  /** By tenant. The first has the next turn. */
  readonly #waiting = new Map<string, Waiting<Call, Answer>[]>();
  #underWay = 0;
  #willBegin = false;

  constructor(
    private readonly sql: Sql,
    private readonly shared: Shared<Call, Answer>,
  ) {}

  ask(call: Call): Promise<Answer | undefined> {
    const bytes = this.shared.bytesOf(call);
    return new Promise((resolve, reject) => {
      const line = this.#waiting.get(call.tenantId);
      const waiting = { call, bytes, resolve, reject };
      if (line) line.push(waiting);
      else this.#waiting.set(call.tenantId, [waiting]);
      this.#beginSoon();
    });
  }

  /** Not at once: other calls of this turn of the event loop come first. */
  #beginSoon(): void {
    if (this.#willBegin || this.#underWay >= statementsMax || this.#waiting.size === 0) return;
    this.#willBegin = true;
    setImmediate(() => {
      this.#willBegin = false;
      void this.#write(this.#take());
      this.#beginSoon();
    });
  }

  /** Takes tenants in turn. */
  #take(): Waiting<Call, Answer>[] {
    const taken: Waiting<Call, Answer>[] = [];
    let bytes = 0;
    for (const [tenantId, line] of this.#waiting) {
      const [next] = line;
      if (!next || taken.length >= callsMax) break;
      bytes += next.bytes;
      if (taken.length > 0 && bytes > bytesMax) break;
      taken.push(next);
      line.shift();
      this.#waiting.delete(tenantId);
      // Behind the others: the loop comes to it again.
      if (line.length > 0) this.#waiting.set(tenantId, line);
    }
    return taken;
  }

  async #write(taken: readonly Waiting<Call, Answer>[]): Promise<void> {
    this.#underWay += 1;
    try {
      const calls = taken.map(({ call }) => call);
      const answers = await this.shared.write(this.sql, calls, 'FOR UPDATE SKIP LOCKED');
      taken.forEach((one, nth) => {
        const answer = answers[nth];
        if (answer === undefined) this.#writeAlone(one);
        else one.resolve(answer);
      });
    } catch (error) {
      // Only then nothing is committed for certain, and the fault is that of one call.
      const isRepeated = taken.length > 1 && isAboutData(error);
      for (const one of taken) {
        if (isRepeated) this.#writeAlone(one);
        else one.reject(error);
      }
    } finally {
      this.#underWay -= 1;
      this.#beginSoon();
    }
  }

  /** Beside the shared statements, since it may wait for its row. */
  #writeAlone({ call, resolve, reject }: Waiting<Call, Answer>): void {
    this.shared.write(this.sql, [call], 'FOR UPDATE').then(([answer]) => resolve(answer), reject);
  }
}

/** SQLSTATEs of values that Postgres refuses, and of constraints. */
const isAboutData = (error: unknown): boolean => /^2[23]/.test(driverErrorOf(error).code ?? '');
