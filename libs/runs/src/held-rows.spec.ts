import { randomUUID } from 'node:crypto';
import { claimDeliveries, claimDelivery } from './claim-delivery';
import { countAttempt, givePlaceBack } from './delivery-queue';
import { recordWithoutCode } from './ended-runs';
import { failHeld, heldByTenant, holdAfterLoss, holdQueues, releaseHeld } from './held-rows';
import { findDelivery } from './find-deliveries';
import { findResult, findRun } from './find-runs';
import { sendNow } from './replay-deliveries';
import { claimRuns, finishRun, markStarted, renewRun } from './run-queue';
import { startSpecRows } from './spec-rows';
import { depthOf, tenantsWithDueRows } from './waiting-rows';

let rows: Awaited<ReturnType<typeof startSpecRows>>;

beforeEach(async () => {
  rows = await startSpecRows();
});
afterEach(() => rows.close());

const ofRow = async (table: string, id: string): Promise<Record<string, unknown>> =>
  (
    await rows.admin.query<Record<string, unknown>>(`SELECT * FROM ${table} WHERE id = $1`, [id])
  )[0] ?? {};

/** Ends a run, and returns the id of its webhook. */
async function endedRun(): Promise<string> {
  const run = await rows.openNew();
  const end = { body: '{}', record: recordWithoutCode('internal_error'), sights: [] };
  expect(await finishRun(rows.database, rows.sealer, run, end)).toBe(true);
  return run.id;
}

const claimAll = async (): Promise<readonly string[]> => {
  const runs = await claimRuns(rows.database, rows.tenantId, 10);
  const deliveries = await claimDeliveries(rows.database, rows.tenantId, 10);
  return [...runs, ...(deliveries === 'full' ? [] : deliveries)].map(({ id }) => id);
};

it('held rows are neither due nor claimed, and are due again once they are released', async () => {
  const webhook = await endedRun();
  const run = await rows.accept();
  expect(await holdQueues(rows.database)).toEqual({ runs: 1, deliveries: 1 });
  expect(await holdQueues(rows.database)).toEqual({ runs: 0, deliveries: 0 });
  expect(await claimAll()).toEqual([]);
  for (const queue of ['runs', 'deliveries'] as const) {
    expect(await tenantsWithDueRows(rows.database, queue)).toEqual([]);
    expect(await depthOf(rows.database, queue)).toMatchObject({ due: 0, later: 0, held: 1 });
  }
  expect(await sendNow(rows.database, rows.tenantId, [webhook])).toEqual([]);
  expect(await findRun(rows.admin, rows.tenantId, run)).toMatchObject({
    status: 'held',
    attempt: 1,
  });
  expect(await findDelivery(rows.admin, rows.tenantId, webhook)).toMatchObject({
    status: 'held',
    nextAttemptAt: null,
  });

  expect(await releaseHeld(rows.admin, {})).toEqual({ runs: 1, deliveries: 1 });
  expect(new Set(await claimAll())).toEqual(new Set([run, webhook]));
  expect(await findRun(rows.admin, rows.tenantId, run)).toMatchObject({ attempt: 1 });
});

it('a former owner of a held run or webhook writes nothing and sends nothing', async () => {
  await endedRun();
  const delivery = await claimDelivery(rows.database, rows.tenantId);
  if (typeof delivery !== 'object') throw new Error('no webhook is due');
  const run = await rows.openNew();
  await holdQueues(rows.database);
  expect(await renewRun(rows.database, run)).toBe(false);
  expect(await markStarted(rows.database, run)).toBe(false);
  const end = { body: '{}', record: recordWithoutCode('internal_error'), sights: [] };
  expect(await finishRun(rows.database, rows.sealer, run, end)).toBe(false);
  expect(await countAttempt(rows.database, delivery)).toBeUndefined();
  await givePlaceBack(rows.database, delivery);

  await releaseHeld(rows.admin, {});
  const [again] = await claimRuns(rows.database, rows.tenantId, 1);
  // Claims that a database forgot had lower fences.
  expect(Number(again?.fence)).toBeGreaterThan(run.fence + 1_000);
  expect(await renewRun(rows.database, run)).toBe(false);
});

it('a released run whose code had started is not started again', async () => {
  const run = await rows.openNew();
  expect(await markStarted(rows.database, run)).toBe(true);
  await holdQueues(rows.database);
  await releaseHeld(rows.admin, {});
  expect(await claimRuns(rows.database, rows.tenantId, 1)).toMatchObject([{ startedBefore: true }]);
});

it('failed rows end without a run and without a webhook, and a webhook can be sent again later', async () => {
  const webhook = await endedRun();
  const run = await rows.accept();
  await holdQueues(rows.database);
  expect(await failHeld(rows.admin, {})).toEqual({ runs: 1, deliveries: 1 });
  expect(await ofRow('ended_runs', run)).toMatchObject({
    status: 'failed',
    outcome: 'run_interrupted',
    attempt: 1,
  });
  const { tenantId, reactorId, actorId: applicationId } = rows;
  expect(
    await findResult(rows.admin, { tenantId, id: run, reactorId, applicationId }),
  ).toMatchObject({ status: 'failed', hasWebhook: false });
  expect(await ofRow('ended_deliveries', webhook)).toMatchObject({
    status: 'failed',
    outcome: 'held',
    body: expect.any(Buffer) as Buffer,
  });
  expect(await claimAll()).toEqual([]);
});

it('rows of a tenant, or of an age, are decided on alone', async () => {
  const old = await rows.accept();
  const young = await rows.accept();
  await rows.admin.query(
    `UPDATE reactor_runs SET created_at = now() - interval '1 day' WHERE id = $1`,
    [old],
  );
  await holdQueues(rows.database);
  expect(await heldByTenant(rows.admin, 10)).toMatchObject([
    { tenantId: rows.tenantId, runs: 2, deliveries: 0 },
  ]);
  expect(await releaseHeld(rows.admin, { tenantId: randomUUID() })).toMatchObject({ runs: 0 });
  const before = new Date(Date.now() - 3_600_000);
  expect(await failHeld(rows.admin, { tenantId: rows.tenantId, before })).toMatchObject({
    runs: 1,
  });
  expect(await ofRow('ended_runs', old)).toMatchObject({ outcome: 'run_interrupted' });
  expect(await ofRow('reactor_runs', young)).toMatchObject({ status: 'held' });
  expect(await releaseHeld(rows.admin, { tenantId: rows.tenantId })).toMatchObject({ runs: 1 });
});

it('no row is claimed from a database that is not accepted, or that has still to hold what it lost', async () => {
  await endedRun();
  await rows.accept();
  for (const [close, open] of [
    [`place = '1/2'`, `place = (SELECT place FROM this_database())`],
    ['timeline = timeline - 1', 'timeline = timeline + 1'],
    ['holds = true', 'holds = false'],
  ]) {
    await rows.admin.query(`UPDATE definition_head SET ${close}`);
    expect(await claimAll()).toEqual([]);
    expect(await claimDelivery(rows.database, rows.tenantId)).toBeUndefined();
    await rows.admin.query(`UPDATE definition_head SET ${open}`);
  }
  expect(await claimAll()).toHaveLength(2);
});

it('a worker holds what a failover lost, once', async () => {
  await rows.accept();
  expect(await holdAfterLoss(rows.database)).toBeUndefined();
  await rows.admin.query('UPDATE definition_head SET holds = true');
  expect(await holdAfterLoss(rows.database)).toEqual({ runs: 1, deliveries: 0 });
  const fresh = await rows.accept();
  expect(await holdAfterLoss(rows.database)).toBeUndefined();
  expect(await claimAll()).toEqual([fresh]);
});

it('a worker that comes late to a hold, or beside another one, holds nothing of what came after it', async () => {
  await rows.accept();
  await rows.admin.query('UPDATE definition_head SET holds = true');
  let goOn: (() => void) | undefined;
  const others = new Promise<void>((resolve) => (goOn = resolve));
  const late = holdAfterLoss({
    ...rows.database,
    async query<Row>(...statement: Parameters<typeof rows.database.query>) {
      const read = await rows.database.query<Row>(...statement);
      await others;
      return read;
    },
  });
  expect(await holdAfterLoss(rows.database)).toEqual({ runs: 1, deliveries: 0 });
  const fresh = await rows.claimNew();
  goOn?.();
  expect(await late).toBeUndefined();
  expect(await rows.row(fresh.id)).toMatchObject({ status: 'running', fence: 1 });

  await rows.admin.query('UPDATE definition_head SET holds = true');
  const both = await Promise.all([holdAfterLoss(rows.database), holdAfterLoss(rows.database)]);
  expect(both).toContain(undefined);
  expect(await rows.row(fresh.id)).toMatchObject({ status: 'held' });
});

it('many rows are held, released and failed in parts', async () => {
  const many = 5_001;
  await rows.admin.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at)
     SELECT gen_random_uuid(), CASE nth % 2 WHEN 0 THEN $1 ELSE gen_random_uuid() END, $1, $1,
       CASE nth % 3 WHEN 0 THEN 'running' ELSE 'pending' END, '', '', 10000, 'trace', now()
     FROM generate_series(1, ${many}) nth`,
    [rows.tenantId],
  );
  expect(await holdQueues(rows.database)).toEqual({ runs: many, deliveries: 0 });
  expect(await heldByTenant(rows.admin, 1)).toMatchObject([
    { tenantId: rows.tenantId, runs: 2_500 },
  ]);
  expect(await releaseHeld(rows.admin, { tenantId: rows.tenantId })).toMatchObject({ runs: 2_500 });
  expect(await failHeld(rows.admin, {})).toMatchObject({ runs: 2_501 });
  expect(await depthOf(rows.admin, 'runs')).toMatchObject({ due: 2_500, held: 0 });
});
