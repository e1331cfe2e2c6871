import { randomUUID } from 'node:crypto';
import type { Sql } from '@glovebox/database';
import { claimDelivery } from './claim-delivery';
import { countAttempt, recordVerdict, type Attempt, type ClaimedDelivery } from './delivery-queue';
import { recordWithoutCode } from './ended-runs';
import { claimRuns, finishRun, markStarted, openRun, type OpenedRun } from './run-queue';
import { startSpecRows, type SpecRows } from './spec-rows';

let rows: SpecRows;
/** The connections of a worker, and the number of statements that it has sent. */
let sql: Sql;
let statements: number;

beforeAll(async () => {
  rows = await startSpecRows();
});
afterAll(() => rows.close());
beforeEach(async () => {
  await rows.empty();
  statements = 0;
  sql = {
    query: (statement, values) => {
      statements += 1;
      return rows.database.query(statement, values);
    },
  };
});

const attempt: Attempt = { at: '2026-01-31T12:00:00.000Z', ms: 1, outcome: 'delivered' };
const end = { body: '{"raw":1}', record: recordWithoutCode('internal_error'), sights: [] };

async function openedRuns(count: number): Promise<OpenedRun[]> {
  for (let nth = 0; nth < count; nth += 1) await rows.accept();
  const claimed = await claimRuns(rows.database, rows.tenantId, count);
  return Promise.all(claimed.map((run) => openRun(rows.database, rows.sealer, run)));
}

/** Webhooks to a receiver each, claimed. */
async function claimedDeliveries(count: number, path = 'path'): Promise<ClaimedDelivery[]> {
  await rows.database.query(
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, receiver, path,
       body, status, next_attempt_at, created_at)
     SELECT gen_random_uuid(), $1, $1, '', '', 'receiver ' || nth, $3, '', 'pending', now(), now()
     FROM generate_series(1, $2::int) nth`,
    [rows.tenantId, count, path],
  );
  const all: ClaimedDelivery[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const claimed = await claimDelivery(rows.database, rows.tenantId);
    if (typeof claimed !== 'object') throw new Error('nothing is due');
    all.push(claimed);
  }
  return all;
}

const deliver = (claimed: ClaimedDelivery): Promise<boolean> =>
  recordVerdict(sql, claimed, { kind: 'delivered', attempt });
const finish = (run: OpenedRun): Promise<boolean> => finishRun(sql, rows.sealer, run, end);

const idsIn = async (table: string): Promise<string[]> =>
  (await rows.admin.query<{ id: string }>(`SELECT id FROM ${table} ORDER BY id`)).map(
    ({ id }) => id,
  );
const idsOf = (all: readonly { readonly id: string }[]): string[] => all.map(({ id }) => id).sort();

/** Holds a row, as another worker may for a moment. */
async function whileLocked(table: string, id: string, work: () => Promise<void>): Promise<void> {
  await rows.admin.transaction(async (holder) => {
    await holder.query(`SELECT FROM ${table} WHERE id = $1 FOR UPDATE`, [id]);
    await work();
  });
}

it('runs that start at once are marked in one statement, except one that was claimed again', async () => {
  const runs = await openedRuns(20);
  const [former] = runs;
  if (!former) throw new Error('unreachable');
  const current = { ...former, fence: former.fence + 1 };
  await rows.set(former.id, 'fence = fence + 1');
  const marked = await Promise.all([...runs, current].map((run) => markStarted(sql, run)));
  expect(marked).toEqual([false, ...Array.from({ length: 20 }, () => true)]);
  // One for all of them, and one in which the former owner asked alone.
  expect(statements).toBe(2);
});

it('a run that was given back is not marked by its former owner', async () => {
  const [run] = await openedRuns(1);
  if (!run) throw new Error('unreachable');
  await rows.set(run.id, `status = 'pending', lease_until = NULL`);
  expect(await markStarted(sql, run)).toBe(false);
  expect(await finish(run)).toBe(false);
  expect(await rows.row(run.id)).toMatchObject({ status: 'pending', isStarted: false });
});

it('runs that end at once are logged with their webhooks in one statement, and a former owner ends nothing', async () => {
  const runs = await openedRuns(10);
  const [former, ...others] = runs;
  if (!former) throw new Error('unreachable');
  await rows.set(former.id, 'fence = fence + 1');
  expect(await Promise.all(runs.map(finish))).toEqual([false, ...others.map(() => true)]);
  expect(statements).toBeLessThanOrEqual(3);
  expect(await idsIn('reactor_runs')).toEqual([former.id]);
  expect(await idsIn('ended_runs')).toEqual(idsOf(others));
  expect(await idsIn('webhook_deliveries')).toEqual(idsOf(others));
  for (const { id } of others) expect(await rows.webhooks(id)).toEqual([{ raw: 1 }]);
});

it('a run that Postgres refuses to log ends none and fails none of the others', async () => {
  const runs = await openedRuns(5);
  const [bad, ...others] = runs.map((run, nth) =>
    nth === 0 ? { ...run, reactorId: 'no id' } : run,
  );
  if (!bad) throw new Error('unreachable');
  const ended = await Promise.all(
    [bad, ...others].map((run) => finish(run).catch((error: Error) => error.message)),
  );
  expect(ended).toEqual([expect.stringContaining('no id'), true, true, true, true]);
  expect(await idsIn('reactor_runs')).toEqual([bad.id]);
  expect(await idsIn('ended_runs')).toEqual(idsOf(others));
  expect(await idsIn('webhook_deliveries')).toEqual(idsOf(others));
});

it('the ends of other runs do not wait for a row that somebody holds, and its own end follows', async () => {
  const runs = await openedRuns(5);
  const [held, ...others] = runs;
  if (!held) throw new Error('unreachable');
  let late = Promise.resolve(false);
  await whileLocked('reactor_runs', held.id, async () => {
    late = finish(held);
    expect(await Promise.all(others.map(finish))).toEqual([true, true, true, true]);
  });
  expect(await late).toBe(true);
  expect(await idsIn('ended_runs')).toEqual(idsOf(runs));
});

it('attempts that begin at once are counted once each in one statement, but not without a place', async () => {
  const claimed = await claimedDeliveries(10);
  const [late, ...others] = claimed;
  if (!late) throw new Error('unreachable');
  await rows.database.query('UPDATE webhook_deliveries SET place = NULL WHERE id = $1', [late.id]);
  const counted = await Promise.all(claimed.map((one) => countAttempt(sql, one)));
  expect(counted).toEqual([undefined, ...others.map(() => 1)]);
  expect(statements).toBe(2);
  const attempts = await rows.database.query('SELECT FROM webhook_deliveries WHERE attempts = 1');
  expect(attempts).toHaveLength(9);
});

it('webhooks that are delivered at once to one path are logged in one statement, and mend the path', async () => {
  const claimed = await claimedDeliveries(10);
  await rows.database.query(`INSERT INTO failing_webhook_paths VALUES ($1, 'path', now())`, [
    rows.tenantId,
  ]);
  const other = { ...claimed[0], id: randomUUID() } as ClaimedDelivery;
  const ended = await Promise.all([...claimed, other].map(deliver));
  expect(ended).toEqual([...claimed.map(() => true), false]);
  expect(statements).toBe(2);
  expect(await idsIn('ended_deliveries')).toEqual(idsOf(claimed));
  expect(await idsIn('webhook_deliveries')).toEqual([]);
  const logged = await rows.admin.query(
    'SELECT status, outcome, attempt_log FROM ended_deliveries',
  );
  expect(logged[0]).toEqual({ status: 'delivered', outcome: 'delivered', attempt_log: [attempt] });
  expect(await rows.admin.query('SELECT FROM failing_webhook_paths')).toEqual([]);
});

it('a webhook that is delivered does not wait for the row of its path', async () => {
  const [claimed] = await claimedDeliveries(1);
  if (!claimed) throw new Error('unreachable');
  await rows.database.query(`INSERT INTO failing_webhook_paths VALUES ($1, 'path', now())`, [
    rows.tenantId,
  ]);
  await rows.admin.transaction(async (holder) => {
    await holder.query('SELECT FROM failing_webhook_paths FOR UPDATE');
    expect(await deliver(claimed)).toBe(true);
  });
});
