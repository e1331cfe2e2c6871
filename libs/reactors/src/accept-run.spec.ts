import { randomBytes, randomUUID } from 'node:crypto';
import { connectDatabase, dataKeyTable, timeOfId, type Database } from '@glovebox/database';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { createTestDatabase, waitFor, type TestDatabase } from '@glovebox/testing';
import { insertRun, runPlace, type NewRun } from './accept-run';

let testDatabase: TestDatabase;
let database: Database;
let sealer: Sealer;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = connectDatabase({ url: testDatabase.dataUrl, app: 'spec', connectionsMax: 2 });
  sealer = new Sealer(
    parseKeyRing(`1:${randomBytes(32).toString('base64')}`),
    dataKeyTable(database),
  );
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

const runOf = (tenantId: string): NewRun => ({
  tenantId,
  reactorId: randomUUID(),
  actorId: randomUUID(),
  args: { card: '{{ token }}', word: 'sesame' },
  callbackUrl: 'https://receiver.example/sesame',
  timeoutMs: 20_000,
  traceId: 'trace',
});

it('an accepted run is due at once, with its arguments and its callback URL sealed', async () => {
  const run = runOf(randomUUID());
  const id = await insertRun(database, sealer, run, 10);
  const [row] = await database.query<{ args: Buffer; url: Buffer }>(
    `SELECT reactor_id AS "reactorId", actor_id AS "actorId", status, timeout_ms AS "timeoutMs",
       trace_id AS "traceId", due_at <= now() AS "isDue", fence, started_at AS "startedAt",
       arguments AS args, callback_url AS url
     FROM reactor_runs WHERE id = $1 AND tenant_id = $2`,
    [id, run.tenantId],
  );
  if (!row) throw new Error('the run has no row');
  const { args, url, ...columns } = row;
  const { reactorId, actorId, timeoutMs, traceId } = run;
  const unclaimed = { status: 'pending', isDue: true, fence: '0', startedAt: null };
  expect(columns).toEqual({ reactorId, actorId, timeoutMs, traceId, ...unclaimed });
  expect(Buffer.concat([args, url]).includes('sesame')).toBe(false);
  const opened = await Promise.all([
    sealer.open(runPlace(run.tenantId, id, 'arguments'), args),
    sealer.open(runPlace(run.tenantId, id, 'callback_url'), url),
  ]);
  expect(opened.map(String)).toEqual([JSON.stringify(run.args), run.callbackUrl]);
});

it('a run was accepted when its id says, however long its statement waited', async () => {
  const run = runOf(randomUUID());
  const id = await database.shareOf(run.tenantId).transaction(async (sql) => {
    const [{ ms } = { ms: Infinity }] = await sql.query<{ ms: number }>(
      'SELECT extract(epoch FROM now())::float8 * 1000 AS ms',
    );
    // The time of the transaction, which now() tells, has passed.
    await waitFor(() => Promise.resolve(Date.now() > ms + 5));
    return insertRun(sql, sealer, run, 10);
  });
  const [row] = await database.query<{ createdAt: Date }>(
    'SELECT created_at AS "createdAt" FROM reactor_runs WHERE id = $1',
    [id],
  );
  expect(row?.createdAt.getTime()).toBe(timeOfId(id));
});

it('a tenant with as many waiting runs and webhooks as it may have is refused, others are not', async () => {
  const [full, other] = [randomUUID(), randomUUID()];
  await insertRun(database, sealer, runOf(full), 3);
  const ended = await insertRun(database, sealer, runOf(full), 3);
  await database.query(
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, body, status,
       next_attempt_at, created_at)
     VALUES (gen_random_uuid(), $1, $1, '', '', '', 'pending', now(), now())`,
    [full],
  );
  await expect(insertRun(database, sealer, runOf(full), 3)).rejects.toMatchObject({
    status: 429,
    code: 'share_exhausted',
  });
  await insertRun(database, sealer, runOf(other), 3);
  await database.query(`UPDATE reactor_runs SET status = 'completed' WHERE id = $1`, [ended]);
  await insertRun(database, sealer, runOf(full), 3);
});
