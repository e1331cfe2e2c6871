import type { Sql } from './database';
import { SharedStatement, type Locking } from './shared-statement';

interface Call {
  readonly tenantId: string;
  readonly n: number;
  readonly bytes?: number;
}

interface Written {
  readonly calls: readonly number[];
  readonly locking: Locking;
  /** Lets the statement end. Without an answer, each call gets its number. */
  end(answer?: (n: number) => number | undefined): void;
  fail(error: Error): void;
}

const sql: Sql = { query: () => Promise.reject(new Error('not used')) };
let written: Written[];
let shared: SharedStatement<Call, number>;

beforeEach(() => {
  written = [];
  shared = new SharedStatement<Call, number>({
    bytesOf: ({ bytes = 1 }) => bytes,
    write: (_, calls, locking) =>
      new Promise((resolve, reject) => {
        const end = (answer: (n: number) => number | undefined = (n) => n): void =>
          resolve(calls.map(({ n }) => answer(n)));
        written.push({ calls: calls.map(({ n }) => n), locking, end, fail: reject });
      }),
  });
});

const ask = (n: number, more: Partial<Call> = {}) => shared.ask(sql, { tenantId: 'a', n, ...more });
/** Lets all calls of this turn of the event loop be sent. */
const turn = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const count = (length: number, from = 1): number[] => Array.from({ length }, (_, n) => n + from);
const refused = (code: string): Error => Object.assign(new Error('refused'), { code });

it('a call that comes alone is sent in its turn of the event loop', async () => {
  const answer = ask(1);
  await turn();
  expect(written.map(({ calls }) => calls)).toEqual([[1]]);
  written[0]?.end();
  expect(await answer).toBe(1);
});

it('calls of one turn share a statement of 50 at most, and two statements go at once', async () => {
  const answers = count(120).map((n) => ask(n));
  await turn();
  expect(written.map(({ calls }) => calls)).toEqual([count(50), count(50, 51)]);
  void ask(121);
  await turn();
  expect(written).toHaveLength(2);
  written[1]?.end();
  expect(await answers[99]).toBe(100);
  await turn();
  expect(written[2]?.calls).toEqual(count(21, 101));
});

it('calls of one statement have a mebibyte together, and a larger one goes alone', async () => {
  const sizes = [600_000, 600_000, 3_000_000, 1];
  sizes.forEach((bytes, n) => void ask(n, { bytes }));
  await turn();
  for (const nth of [0, 1]) {
    written[nth]?.end();
    await turn();
  }
  expect(written.map(({ calls }) => calls)).toEqual([[0], [1], [2], [3]]);
});

it('tenants take turns: the calls of one wait behind its own', async () => {
  for (const n of count(500)) void ask(n);
  void ask(1_000, { tenantId: 'b' });
  await turn();
  expect(written[0]?.calls.slice(0, 3)).toEqual([1, 1_000, 2]);
});

it('a call whose row was passed over is repeated alone, and waits for its row', async () => {
  const answers = [ask(1), ask(2)];
  await turn();
  expect(written[0]?.locking).toBe('FOR UPDATE SKIP LOCKED');
  written[0]?.end((n) => (n === 1 ? 1 : undefined));
  expect(await answers[0]).toBe(1);
  await turn();
  expect(written[1]).toMatchObject({ calls: [2], locking: 'FOR UPDATE' });
  // It takes no room from shared statements.
  void ask(3);
  await turn();
  void ask(4);
  await turn();
  expect(written.slice(2).map(({ calls }) => calls)).toEqual([[3], [4]]);
  written[1]?.end(() => undefined);
  expect(await answers[1]).toBeUndefined();
});

it.each(['22P02', '23502'])(
  'calls are repeated alone where Postgres refuses a value of one of them with %s',
  async (code) => {
    const answers = [ask(1), ask(2)].map((answer) => answer.catch((error: Error) => error.message));
    await turn();
    written[0]?.fail(refused(code));
    await turn();
    expect(written.slice(1).map(({ calls }) => calls)).toEqual([[1], [2]]);
    written[1]?.fail(refused(code));
    written[2]?.end();
    expect(await Promise.all(answers)).toEqual(['refused', 2]);
  },
);

it.each(['57P01', '08006', '40P01', '57014', 'ECONNRESET'])(
  'nothing is repeated where the statement may have been committed, or was refused for another reason: %s',
  async (code) => {
    const answers = [ask(1), ask(2)].map((answer) => answer.catch((error: Error) => error.message));
    await turn();
    written[0]?.fail(refused(code));
    expect(await Promise.all(answers)).toEqual(['refused', 'refused']);
    await turn();
    expect(written).toHaveLength(1);
  },
);

it('a lone call that Postgres refuses is not repeated', async () => {
  const answer = ask(1).catch((error: Error) => error.message);
  await turn();
  written[0]?.fail(refused('22P02'));
  expect(await answer).toBe('refused');
  await turn();
  expect(written).toHaveLength(1);
});
