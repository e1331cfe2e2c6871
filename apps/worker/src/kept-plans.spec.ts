import { randomUUID } from 'node:crypto';
import { connectDatabase, dataKeyTable, type Database, type Sql } from '@glovebox/database';
import {
  claimDeliveries,
  claimDelivery,
  claimRuns,
  claimStepsMax,
  countAttempt,
  finishRun,
  insertRun,
  markStarted,
  openRun,
  recordVerdict,
  recordWithoutCode,
  type Attempt,
  type ClaimedDelivery,
} from '@glovebox/runs';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { createTestDatabase } from '@glovebox/testing';
import { explaining } from './spec-plans';

const tenantId = randomUUID();
const crowdMax = 60_000;
const attempt: Attempt = { at: '2026-01-31T12:00:00.000Z', ms: 1, outcome: 'rejected' };

let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
let admin: Database;
/** One connection: it keeps the plans that it has made. */
let worker: Database;
let sealer: Sealer;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  admin = connectDatabase({ url: testDatabase.adminUrl, app: 'spec', connectionsMax: 1 });
  worker = connectDatabase({
    url: testDatabase.dataUrl,
    app: 'spec',
    connectionsMax: 1,
    readsQueues: true,
  });
  const ring = parseKeyRing(`1:${Buffer.alloc(32, 1).toString('base64')}`);
  sealer = new Sealer(ring, dataKeyTable(worker));
  // New statistics would make new plans.
  for (const table of ['reactor_runs', 'webhook_deliveries', 'failing_webhook_paths']) {
    await admin.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
  }
});
afterEach(async () => {
  await Promise.all([worker.close(), admin.close()]);
  await testDatabase.drop();
});

/** Lets a run go from its acceptance to the end of its webhook, which is refused once. */
async function wholeLife(sql: Sql): Promise<void> {
  const id = await insertRun(
    admin,
    sealer,
    {
      tenantId,
      reactorId: randomUUID(),
      actorId: randomUUID(),
      args: {},
      callbackUrl: 'https://receiver.example/hook',
      timeoutMs: 10_000,
      traceId: 'trace',
    },
    10 * crowdMax,
  );
  await admin.query(`UPDATE reactor_runs SET due_at = 'epoch' WHERE id = $1`, [id]);
  const [claimed] = await claimRuns(sql, tenantId, 10);
  if (!claimed) throw new Error('no run is due');
  const run = await openRun(sql, sealer, claimed);
  expect(await markStarted(sql, run)).toBe(true);
  const end = { body: '{}', record: recordWithoutCode('internal_error'), sights: [] };
  expect(await finishRun(sql, sealer, run, end)).toBe(true);
  for (const kind of ['retry', 'delivered'] as const) {
    await admin.query(`UPDATE webhook_deliveries SET next_attempt_at = 'epoch' WHERE id = $1`, [
      id,
    ]);
    const delivery = await claimedDelivery(sql, kind);
    expect(await countAttempt(sql, delivery)).toBe(kind === 'retry' ? 1 : 2);
    const verdict = kind === 'retry' ? { kind, attempt, afterMs: 60_000 } : { kind, attempt };
    expect(await recordVerdict(sql, delivery, verdict)).toBe(true);
  }
}

async function claimedDelivery(sql: Sql, kind: 'retry' | 'delivered'): Promise<ClaimedDelivery> {
  const [delivery] =
    kind === 'retry'
      ? [await claimDelivery(sql, tenantId)]
      : await claimDeliveries(sql, tenantId, 20);
  if (typeof delivery !== 'object') throw new Error('no webhook is due');
  return delivery;
}

/** Runs that are claimed and webhooks that are due later, of this tenant and of others. */
async function crowd(): Promise<void> {
  await admin.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at, lease_until)
     SELECT gen_random_uuid(), CASE nth % 2 WHEN 0 THEN $1 ELSE gen_random_uuid() END, $1, $1,
       'running', '', '', 10000, 'trace', now(), now() + interval '1 hour'
     FROM generate_series(1, $2::int) nth`,
    [tenantId, crowdMax],
  );
  await admin.query(
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, receiver,
       path, body, status, attempts, next_attempt_at, created_at)
     SELECT gen_random_uuid(), CASE nth % 2 WHEN 0 THEN $1 ELSE gen_random_uuid() END, $1, '', '',
       'receiver ' || nth % 100, 'path ' || nth, '', 'pending', nth % 3, now() + interval '1 hour', now()
     FROM generate_series(1, $2::int) nth`,
    [tenantId, crowdMax],
  );
  await admin.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at, due_at)
     SELECT gen_random_uuid(), $1, $1, $1, 'held', '', '', 10000, 'trace', now(), 'epoch'
     FROM generate_series(1, $2::int)`,
    [tenantId, crowdMax],
  );
  await admin.query(
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, receiver,
       path, body, status, attempts, next_attempt_at, created_at)
     SELECT gen_random_uuid(), $1, $1, '', '', 'receiver ' || nth % 100, 'path ' || nth, '',
       'held', nth % 3, 'epoch', now()
     FROM generate_series(1, $2::int) nth`,
    [tenantId, crowdMax],
  );
  // Claims pass over them, since their paths fail and their receiver has no place for such.
  await admin.query(
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, receiver,
       path, body, status, place, next_attempt_at, created_at)
     SELECT gen_random_uuid(), $1, $1, '', '', 'held', 'path ' || nth, '', 'pending',
       CASE WHEN nth <= 5 THEN nth END, 'epoch', now()
     FROM generate_series(1, 20) nth`,
    [tenantId],
  );
  await admin.query(
    `INSERT INTO failing_webhook_paths SELECT $1, 'path ' || nth, now()
     FROM generate_series(1, $2::int) nth`,
    [tenantId, crowdMax],
  );
}

it.each(['were never looked at', 'were known to be empty'])(
  'statements whose plans are from a time when the queues %s read few rows of full ones',
  async (when) => {
    if (when === 'were known to be empty') {
      await admin.query('VACUUM ANALYZE reactor_runs, webhook_deliveries, failing_webhook_paths');
    }
    const read = new Map<string, number>();
    const explained = explaining(worker, (rows, name) => {
      read.set(name, Math.max(read.get(name) ?? 0, rows));
    });
    await wholeLife(explained);
    const known = new Set(read.keys());
    read.clear();
    await crowd();
    await wholeLife(explained);
    expect(new Set(read.keys())).toEqual(known);
    const many = [...read].filter(([, rows]) => rows > 3 * claimStepsMax);
    expect(many).toEqual([]);
  },
);
