import { randomUUID } from 'node:crypto';
import { readerVersion, type Sql } from '@glovebox/database';
import {
  claimDeliveries,
  claimDelivery,
  claimStepsMax,
  receiverDeliveriesMax,
  retryPlacesMax,
} from './claim-delivery';
import {
  countAttempt,
  givePlaceBack,
  recordVerdict,
  takeBackPlaces,
  type Attempt,
  type ClaimedDelivery,
} from './delivery-queue';
import { requeue, requeueable } from './replay-deliveries';
import { startSpecRows, type SpecRows } from './spec-rows';

let rows: SpecRows;

beforeAll(async () => {
  rows = await startSpecRows();
});
afterAll(() => rows.close());
beforeEach(() => rows.empty());

/** `path`: the same one for all of them, or an expression of their number. */
const wait = (
  tenantId: string,
  receiver: string | null,
  count: number,
  { path = `'path'`, attempts = 0, due = 'now()' } = {},
): Promise<unknown> =>
  rows.database.query(
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, receiver, path,
       body, status, attempts, next_attempt_at, created_at)
     SELECT gen_random_uuid(), $1, $1, '', '', $2, ${path}, '', 'pending', $4, ${due}, now()
     FROM generate_series(1, $3::int) nth`,
    [tenantId, receiver, count, attempts],
  );

const ownPaths = `'path ' || nth`;
const overdue = `now() - interval '1 hour'`;

const claimOf = (tenantId: string) => claimDelivery(rows.database, tenantId);

/** Claims with so many at once until nothing is left to claim, as several workers do. */
async function claimAll(tenantId: string, atOnce: number): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = [];
  const one = async (): Promise<void> => {
    for (;;) {
      const next = await claimDeliveries(rows.database, tenantId, 7);
      if (next === 'full' || next.length === 0) return;
      claimed.push(...next);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return claimed;
}

async function claimed(tenantId: string): Promise<ClaimedDelivery> {
  const one = await claimOf(tenantId);
  if (one === undefined || one === 'full') throw new Error('nothing was due');
  return one;
}

const attempt: Attempt = { at: '2026-01-31T12:00:00.000Z', ms: 1, outcome: 'timed_out' };

it.each(['a receiver', null])(
  'ten webhooks to one receiver are claimed, however many workers claim at once: %s',
  async (receiver) => {
    const tenantId = randomUUID();
    await wait(tenantId, receiver, 40);
    for (let round = 0; round < 3; round += 1) {
      const taken = await claimAll(tenantId, 8);
      expect(taken).toHaveLength(receiverDeliveriesMax);
      expect(await claimOf(tenantId)).toBe('full');
      const [held] = await rows.database.query<{ places: number[] }>(
        'SELECT array_agg(place ORDER BY place) AS places FROM webhook_deliveries WHERE place > 0',
      );
      expect(held?.places).toEqual(Array.from({ length: receiverDeliveriesMax }, (_, n) => n + 1));
      await Promise.all(
        taken.map((one) => recordVerdict(rows.database, one, { kind: 'delivered', attempt })),
      );
    }
  },
);

it('another receiver, and the same one of another tenant, have places of their own', async () => {
  const [tenantId, other] = [randomUUID(), randomUUID()];
  await wait(tenantId, 'a', 20);
  await wait(tenantId, 'b', 3);
  await wait(other, 'a', 3);
  expect(await claimAll(tenantId, 2)).toHaveLength(receiverDeliveriesMax + 3);
  expect(await claimAll(other, 2)).toHaveLength(3);
});

it('a place that is given back while a claim looks for one does not hide that webhooks are due', async () => {
  const tenantId = randomUUID();
  await wait(tenantId, 'a', receiverDeliveriesMax + 1);
  const taken = await claimAll(tenantId, 1);
  const givenBackMeanwhile = {
    query: async (statement: { name?: string }, values: readonly unknown[]) => {
      if (statement.name === 'look-at-deliveries') {
        await Promise.all(
          taken.map((one) => recordVerdict(rows.database, one, { kind: 'delivered', attempt })),
        );
      }
      return rows.database.query(statement as never, values);
    },
  } as Sql;
  expect(await claimDelivery(givenBackMeanwhile, tenantId)).toBe('full');
  expect(await claimOf(tenantId)).toMatchObject({ tenantId });
});

it.each<[string, (claim: ClaimedDelivery) => Promise<unknown>]>([
  [
    'is to be repeated',
    (claim) => recordVerdict(rows.database, claim, { kind: 'retry', attempt, afterMs: 60_000 }),
  ],
  ['was delivered', (claim) => recordVerdict(rows.database, claim, { kind: 'delivered', attempt })],
  ['could not be sent', (claim) => givePlaceBack(rows.database, claim)],
])('a webhook that %s gives its place to the next one', async (_, end) => {
  const tenantId = randomUUID();
  await wait(tenantId, 'a', receiverDeliveriesMax + 1, { path: ownPaths });
  const [first] = await claimAll(tenantId, 1);
  if (!first) throw new Error('nothing was due');
  expect(await claimOf(tenantId)).toBe('full');
  await end(first);
  expect(await claimed(tenantId)).not.toMatchObject({ id: first.id });
});

it('the places of a worker that died are free when its claims are over, and it sends nothing then', async () => {
  const tenantId = randomUUID();
  await wait(tenantId, 'a', 2 * receiverDeliveriesMax);
  const taken = await claimAll(tenantId, 1);
  await takeBackPlaces(rows.database);
  expect(await claimOf(tenantId)).toBe('full');
  await rows.database.query(
    `UPDATE webhook_deliveries SET place_until = now() - interval '1 second' WHERE place > 0`,
  );
  await takeBackPlaces(rows.database);
  expect(await claimAll(tenantId, 1)).toHaveLength(receiverDeliveriesMax);
  for (const late of taken) {
    expect(await countAttempt(rows.database, late)).toBeUndefined();
  }
});

it('an attempt that begins holds its place for as long as it may take', async () => {
  const tenantId = randomUUID();
  await wait(tenantId, 'a', 1);
  const claim = await claimed(tenantId);
  await rows.database.query(`UPDATE webhook_deliveries SET place_until = now()`);
  expect(await countAttempt(rows.database, claim)).toBe(1);
  const [row] = await rows.database.query<{ held: number }>(
    'SELECT extract(epoch FROM place_until - now())::float8 AS held FROM webhook_deliveries',
  );
  expect(row?.held).toBeGreaterThan(20);
});

describe('a host of which something fails', () => {
  /** Lets an attempt to the path end like this, as the last one. */
  async function end(tenantId: string, kind: 'delivered' | 'failed' | 'retry'): Promise<void> {
    await wait(tenantId, 'a', 1);
    const verdict = kind === 'retry' ? ({ kind, afterMs: 60_000 } as const) : ({ kind } as const);
    await recordVerdict(rows.database, await claimed(tenantId), { ...verdict, attempt });
  }

  it('gives retries five of its places, and keeps the others for first attempts', async () => {
    const tenantId = randomUUID();
    await wait(tenantId, 'a', 40, { path: ownPaths, attempts: 1, due: overdue });
    expect(await claimAll(tenantId, 8)).toHaveLength(retryPlacesMax);
    expect(await claimOf(tenantId)).toBe('full');
    await wait(tenantId, 'a', 40, { path: `'new ' || nth` });
    expect(await claimAll(tenantId, 8)).toHaveLength(receiverDeliveriesMax - retryPlacesMax);
  });

  it.each(['failed', 'retry'] as const)(
    'gives a path whose last attempt ended as %s five places, and all ten once one is delivered',
    async (kind) => {
      const tenantId = randomUUID();
      await end(tenantId, kind);
      await wait(tenantId, 'a', 40);
      expect(await claimAll(tenantId, 8)).toHaveLength(retryPlacesMax);
      await wait(tenantId, 'a', 2, { path: ownPaths });
      expect(await claimAll(tenantId, 8)).toHaveLength(2);
      const other = randomUUID();
      await end(other, kind);
      await end(other, 'delivered');
      await wait(other, 'a', 40);
      expect(await claimAll(other, 8)).toHaveLength(receiverDeliveriesMax);
    },
  );

  it.each([claimStepsMax - 2, 3 * claimStepsMax])(
    'gets a first attempt before %i retries that have been due for longer',
    async (retries) => {
      const tenantId = randomUUID();
      await wait(tenantId, 'a', retries, { path: ownPaths, attempts: 3, due: overdue });
      await wait(tenantId, 'a', 1, { path: `'new'` });
      await claimed(tenantId);
      const [row] = await rows.database.query<{ path: string; place: number }>(
        'SELECT path, place FROM webhook_deliveries WHERE place IS NOT NULL',
      );
      expect(row?.path).toBe('new');
      expect(row?.place).toBeGreaterThan(retryPlacesMax);
      expect(await claimAll(tenantId, 2)).toHaveLength(retryPlacesMax);
    },
  );
});

it('a path that works is found behind more paths of its host that fail than a claim walks', async () => {
  const tenantId = randomUUID();
  const hashed = `translate(encode(sha256(nth::text::bytea), 'base64'), '+/=', '-_')`;
  await wait(tenantId, 'a', 3 * claimStepsMax, { path: hashed, due: overdue });
  await rows.database.query(
    `INSERT INTO failing_webhook_paths SELECT tenant_id, path, now() FROM webhook_deliveries`,
  );
  expect(await claimAll(tenantId, 1)).toHaveLength(retryPlacesMax);
  await wait(tenantId, 'a', 1, { path: `'zz'` });
  let claims = 0;
  for (let found: unknown = 'full'; found === 'full' && claims < 100; claims += 1) {
    found = await claimOf(tenantId);
  }
  expect(claims).toBeLessThan(100);
});

describe('a claim of several webhooks', () => {
  it('takes them in one statement, each with a place, and at most so many', async () => {
    const tenantId = randomUUID();
    for (const receiver of ['a', 'b', 'c']) await wait(tenantId, receiver, 20);
    let statements = 0;
    const sql: Sql = {
      query: (statement, values) => {
        statements += 1;
        return rows.database.query(statement, values);
      },
    };
    expect(await claimDeliveries(sql, tenantId, 20)).toHaveLength(20);
    expect(statements).toBe(1);
    expect(await claimAll(tenantId, 1)).toHaveLength(3 * receiverDeliveriesMax - 20);
    const held = await rows.database.query<{ fence: string }>(
      'SELECT fence FROM webhook_deliveries WHERE place IS NOT NULL',
    );
    expect(held.map(({ fence }) => fence)).toEqual(Array.from({ length: 30 }, () => '1'));
    expect(await claimDeliveries(sql, randomUUID(), 20)).toEqual([]);
    expect(statements).toBe(2);
  });

  it('keeps the places of paths that work from retries and from paths that fail', async () => {
    const tenantId = randomUUID();
    await wait(tenantId, 'a', 8, { path: `'retried'`, attempts: 1, due: overdue });
    await wait(tenantId, 'a', 8, { path: `'fails'`, due: overdue });
    await rows.database.query(`INSERT INTO failing_webhook_paths VALUES ($1, 'fails', now())`, [
      tenantId,
    ]);
    await wait(tenantId, 'a', 8, { path: `'works'` });
    expect(await claimDeliveries(rows.database, tenantId, 20)).toHaveLength(receiverDeliveriesMax);
    const paths = await rows.database.query(
      `SELECT path, count(*)::int, bool_and(place > $1) AS "isHigh" FROM webhook_deliveries
       WHERE place IS NOT NULL GROUP BY path ORDER BY path`,
      [retryPlacesMax],
    );
    expect(paths).toEqual([
      { path: 'fails', count: 5, isHigh: false },
      { path: 'works', count: 5, isHigh: true },
    ]);
  });

  it('takes one while another worker claims several of the tenant', async () => {
    const tenantId = randomUUID();
    await wait(tenantId, 'a', 5);
    await rows.admin.transaction(async (other) => {
      await other.query(`SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 47))`, [
        tenantId,
      ]);
      expect(await claimDeliveries(rows.database, tenantId, 5)).toHaveLength(1);
    });
    expect(await claimDeliveries(rows.database, tenantId, 5)).toHaveLength(4);
  });

  it('never gives a place twice and waits for none in a ring, however many workers claim', async () => {
    const tenantId = randomUUID();
    for (const receiver of ['a', 'b', 'c', 'd']) await wait(tenantId, receiver, 40);
    for (let round = 0; round < 4; round += 1) {
      const taken = await claimAll(tenantId, 8);
      expect(taken).toHaveLength(4 * receiverDeliveriesMax);
      expect(new Set(taken.map(({ id }) => id)).size).toBe(taken.length);
      await Promise.all(
        taken.map((one) => recordVerdict(rows.database, one, { kind: 'delivered', attempt })),
      );
    }
    expect(await claimAll(tenantId, 8)).toEqual([]);
  });
});

it('a webhook of a newer release stays due, also when it ended before and is sent again', async () => {
  const tenantId = randomUUID();
  await wait(tenantId, 'a receiver', 3);
  await rows.database.query('UPDATE webhook_deliveries SET reader_version = $1', [readerVersion]);
  const ended = await claimed(tenantId);
  await recordVerdict(rows.database, ended, { kind: 'delivered', attempt });
  await rows.admin.query('UPDATE webhook_deliveries SET reader_version = reader_version + 1');
  await rows.admin.query('UPDATE ended_deliveries SET reader_version = reader_version + 1');
  expect(await requeue(rows.admin, tenantId, [ended.id])).toEqual([ended.id]);
  expect(await claimOf(tenantId)).toBeUndefined();
  expect(await claimDeliveries(rows.database, tenantId, 7)).toEqual([]);
  await wait(tenantId, 'a receiver', 1, { due: overdue });
  expect(await claimAll(tenantId, 2)).toHaveLength(1);
});

it('a webhook that was sent again since a replay began is not put back by it', async () => {
  const tenantId = randomUUID();
  await wait(tenantId, 'a receiver', 2);
  const taken = await claimAll(tenantId, 1);
  const ids = taken.map(({ id }) => id).sort();
  const deliver = (claims: readonly ClaimedDelivery[]) =>
    Promise.all(
      claims.map((claim) => recordVerdict(rows.database, claim, { kind: 'delivered', attempt })),
    );
  await deliver(taken);
  await rows.admin.transaction(async (replay) => {
    expect((await requeueable(replay, tenantId, ids)).sort()).toEqual(ids);
    const [first = '', other] = ids;
    expect(await requeue(rows.admin, tenantId, [first])).toEqual([first]);
    await deliver([await claimed(tenantId)]);
    expect(await requeueable(replay, tenantId, ids)).toEqual([other]);
    expect(await requeue(replay, tenantId, ids)).toEqual([other]);
  });
  expect(await requeue(rows.admin, tenantId, ids)).toHaveLength(1);
});

it('webhooks of a newer release hold up none behind them, however many they are', async () => {
  const tenantId = randomUUID();
  await wait(tenantId, 'later', 2 * claimStepsMax, { path: ownPaths, due: overdue });
  await rows.database.query('UPDATE webhook_deliveries SET reader_version = $1', [
    readerVersion + 1,
  ]);
  await wait(tenantId, 'own', 3);
  expect(await claimAll(tenantId, 1)).toHaveLength(3);
});
