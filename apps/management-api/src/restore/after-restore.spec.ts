import { randomUUID } from 'node:crypto';
import { rewriteDefinition, waitFor } from '@glovebox/testing';
import { loadRestoreConfig } from '../config';
import type { ManagementContext } from '../context';
import { ringOf, startProcess } from '../rotation/spec-rotation';
import { startStores, stopStores, type TestStores } from '../spec-api';
import { createTenant, type NewTenant } from '../tenants/create-tenant';
import { afterRestore, type Restored } from './after-restore';
import { createRestoreContext } from './context';
import { describeRestored } from './describe-restored';
import { parseRestore } from './options';

let stores: TestStores;
let api: ManagementContext;
let tenant: NewTenant;

beforeEach(async () => {
  stores = await startStores();
  api = await startProcess(stores, ringOf(1));
  tenant = await createTenant(api, { name: 'T', demo: true });
});
afterEach(async () => {
  await api.close();
  await stopStores(stores);
});

async function run(...args: string[]): Promise<Restored> {
  const ctx = await createRestoreContext(
    loadRestoreConfig({
      DATABASE_URL: stores.database.ownerUrl,
      REDIS_URL: stores.redis.url,
      KEY_RING: ringOf(1),
    }),
  );
  try {
    return await afterRestore(ctx, parseRestore(args));
  } finally {
    await ctx.close();
  }
}

const head = async () => (await stores.admin.query('SELECT * FROM definition_head'))[0];
const restored = () => stores.admin.query(`UPDATE definition_head SET place = '1/2'`);
const waiting = (count: number) =>
  stores.admin.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at)
     SELECT gen_random_uuid(), $1, $1, $1, 'pending', '', '', 1, '', now()
     FROM generate_series(1, $2::int)`,
    [tenant.tenant_id, count],
  );

it('a database that nothing speaks against is left as it is, unless it is forced', async () => {
  await waiting(2);
  const before = await head();
  expect(await run()).toMatchObject({ isAccepted: false, findings: { verdict: 'served' } });
  expect(await head()).toEqual(before);
  expect(await run('--force')).toMatchObject({
    isAccepted: true,
    heldNow: { runs: 2, deliveries: 0 },
  });
  expect(await head()).toMatchObject({ holds: false });
  expect(await head()).not.toEqual(before);
  expect(await api.definitions.follower.current()).toBeDefined();
});

it('of two commands at once, the second one finds the work of the first done', async () => {
  await waiting(2);
  await restored();
  // The first one's lock is on a connection that is idle meanwhile: a server may end such ones.
  await stores.admin.query(
    `DO $$ BEGIN EXECUTE format('ALTER ROLE glovebox_owner IN DATABASE %I
       SET idle_in_transaction_session_timeout = 100', current_database()); END $$`,
  );
  const { commands } = await stores.admin.transaction(async (sql) => {
    await sql.query('SELECT FROM reactor_runs FOR UPDATE');
    const started = [run(), run()];
    await waitFor(async () => {
      const [waits] = await stores.admin.query<{ locks: number; idleMs: number }>(
        `SELECT count(*) FILTER (WHERE wait_event_type = 'Lock')::int AS locks,
           extract(epoch FROM max(now() - state_change)
             FILTER (WHERE state = 'idle in transaction'))::float * 1000 AS "idleMs"
         FROM pg_stat_activity WHERE application_name = 'after-restore'`,
      );
      return waits?.locks === 2 && waits.idleMs > 300;
    });
    return { commands: started };
  });
  const both = await Promise.all(commands);
  expect(both.map(({ isAccepted }) => isAccepted).sort()).toEqual([false, true]);
  expect(both.find(({ isAccepted }) => isAccepted)?.heldNow).toEqual({ runs: 2, deliveries: 0 });
  expect(await run('--status')).toMatchObject({ findings: { verdict: 'served' } });
});

it('a promotion that an operator vouches for holds nothing', async () => {
  await waiting(2);
  await restored();
  const accepted = await run('--promoted');
  expect(accepted).toMatchObject({ isAccepted: true, findings: { verdict: 'copied', held: [] } });
  expect(accepted.heldNow).toBeUndefined();
  expect(await run('--status')).toMatchObject({ findings: { verdict: 'served' } });
});

it('a status changes nothing', async () => {
  await waiting(1);
  await restored();
  const before = await head();
  expect(await run('--status')).toMatchObject({ findings: { verdict: 'copied', held: [] } });
  expect(await head()).toEqual(before);
});

it('a database is accepted without Redis, and the operator is told that changes are not known', async () => {
  await restored();
  await stores.redis.kill();
  const accepted = await run();
  expect(accepted).toMatchObject({ isAccepted: true });
  expect(describeRestored(accepted)).toContain('Redis does not answer');
});

it('all keys of a tenant are ended with lines of the audit log, before and after the database is accepted', async () => {
  await restored();
  expect(await run('--end-keys', '--tenant', tenant.tenant_id)).toEqual({
    endedKeys: { keys: 2, newerApplications: [] },
  });
  expect(await run('--status')).toMatchObject({ findings: { verdict: 'copied' } });
  await run();
  for (const key of [tenant.management_key, tenant.private_key ?? '']) {
    await waitFor(async () => {
      const definitions = await api.definitions.follower.current();
      return definitions.principalByKeyHash(api.keyHash(key)) === undefined;
    });
  }
  expect(
    await stores.admin.query(
      `SELECT FROM audit_log WHERE tenant_id = $1 AND operation = 'application.delete_key'`,
      [tenant.tenant_id],
    ),
  ).toHaveLength(2);
  expect(await run('--end-keys', '--tenant', tenant.tenant_id)).toEqual({
    endedKeys: { keys: 0, newerApplications: [] },
  });
  expect(await head()).not.toMatchObject({ place: 'not accepted' });
  await expect(run('--end-keys', '--tenant', randomUUID())).rejects.toThrow('There is no tenant');
});

it('keys of an application that a newer release wrote are named as not ended, and all others of the tenant are ended', async () => {
  const [newer] = await stores.admin.query<{ id: string }>(
    `SELECT id FROM applications WHERE tenant_id = $1 ORDER BY id LIMIT 1`,
    [tenant.tenant_id],
  );
  const { id = '' } = newer ?? {};
  const place = { adminUrl: stores.database.adminUrl, keyRing: ringOf(1) };
  await rewriteDefinition(place, { kind: 'application', id }, (payload) => ({
    ...payload,
    v: 1_000,
  }));
  const ended = await run('--end-keys', '--tenant', tenant.tenant_id);
  expect(ended).toEqual({ endedKeys: { keys: 1, newerApplications: [id] } });
  expect(describeRestored(ended)).toMatch(/1 keys.*1 applications still work.*application/s);
  const left = await stores.admin.query('SELECT application_id FROM application_keys');
  expect(left).toEqual([{ application_id: id }]);
});

it('what was made after the copy is listed as lost', async () => {
  await createTenant(api, { name: 'Later', demo: false });
  await stores.admin.query(`DELETE FROM definition_log WHERE tenant_id <> $1`, [tenant.tenant_id]);
  const { findings } = await run('--status');
  expect(findings?.changes?.lost).toMatchObject({ count: 2 });
  expect(findings?.changes?.lost.first.map(({ kind }) => kind).sort()).toEqual([
    'application',
    'tenant',
  ]);
});
