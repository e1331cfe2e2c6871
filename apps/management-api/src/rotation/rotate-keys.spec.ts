import { connectDatabase, raiseSealingVersion, type Database } from '@glovebox/database';
import { waitFor } from '@glovebox/testing';
import type { ManagementContext } from '../context';
import { managementReadiness } from '../health';
import { startStores, stopStores, type TestStores } from '../spec-api';
import { createTenant, type NewTenant } from '../tenants/create-tenant';
import { openWebhookSecrets } from '../tenants/webhook-secrets';
import { describeStatus, keyStatus, mayBeTakenOut } from './key-status';
import { rewrapDataKeys } from './rewrap-data-keys';
import { rotateKeys } from './rotate-keys';
import { asRotation, ringOf, startProcess } from './spec-rotation';

let stores: TestStores;
const processes: ManagementContext[] = [];

beforeEach(async () => {
  stores = await startStores();
  // Otherwise the first process would make its newest key the sealing key.
  await stores.admin.query('SELECT sealing_version(1)');
});

afterEach(async () => {
  await Promise.all(processes.splice(0).map((ctx) => ctx.close()));
  await stopStores(stores);
});

async function start(...versions: number[]): Promise<ManagementContext> {
  const ctx = await startProcess(stores, ringOf(...versions));
  processes.push(ctx);
  return ctx;
}

async function stop(ctx: ManagementContext): Promise<void> {
  processes.splice(processes.indexOf(ctx), 1);
  await ctx.close();
}

const rotate = (...versions: number[]) =>
  asRotation(stores, ringOf(...versions), (ctx) => rotateKeys(ctx));
const status = (...versions: number[]) =>
  asRotation(stores, ringOf(...versions), (ctx) => keyStatus(ctx));

/** Creates tenants, each with a data key and definitions, until the work is done. */
async function underLoad<Result>(
  processesUnderLoad: readonly ManagementContext[],
  work: () => Promise<Result>,
): Promise<{ result: Result; made: NewTenant[] }> {
  const made: NewTenant[] = [];
  let done = false;
  const writing = processesUnderLoad.map(async (ctx) => {
    do made.push(await createTenant(ctx, { name: 'Load', demo: true }));
    while (!done);
  });
  const result = await work().finally(() => (done = true));
  await Promise.all(writing);
  return { result, made };
}

/** Checks that the process knows every caller, and opens the sealed values of every tenant. */
async function expectAllOpen(ctx: ManagementContext, tenants: readonly NewTenant[]): Promise<void> {
  const definitions = await ctx.definitions.follower.current();
  for (const tenant of tenants) {
    const hash = ctx.keyHash(tenant.management_key);
    expect(definitions.principalByKeyHash(hash)?.tenantId).toBe(tenant.tenant_id);
  }
  const rows = await stores.admin.query<{ id: string; webhookSecrets: Buffer }>(
    `SELECT id, webhook_secrets AS "webhookSecrets" FROM tenants`,
  );
  expect(rows.length).toBeGreaterThanOrEqual(tenants.length);
  for (const row of rows) expect(await openWebhookSecrets(ctx.sealer, row)).toHaveLength(1);
}

it('two rotations under the load of two processes leave the first keys unneeded', async () => {
  const before = [await start(1, 2), await start(1, 2)];
  const first = await underLoad(before, () => rotate(1, 2));
  expect(first.result).toMatchObject({ complete: true, damaged: 0 });
  expect((await status(1, 2)).uses.map(({ version, dataKeys }) => [version, dataKeys > 0])).toEqual(
    [
      [1, false],
      [2, true],
    ],
  );
  await Promise.all(before.map(stop));

  const after = [await start(2, 3), await start(2, 3)];
  const second = await underLoad(after, () => rotate(2, 3));
  expect(second.result).toMatchObject({ complete: true, damaged: 0 });
  const tenants = [...first.made, ...second.made];
  for (const ctx of after) await expectAllOpen(ctx, tenants);
  await expectAllOpen(await start(3), tenants);
});

it('a newer key in the ring seals nothing before the rotation', async () => {
  const old = await start(1);
  await createTenant(old, { name: 'T', demo: false });
  const renewed = await start(1, 2);
  const made = await createTenant(renewed, { name: 'T', demo: false });
  await expectAllOpen(old, [made]);
  const { sealing, uses } = await status(1, 2);
  expect(sealing).toBe(1);
  expect(uses.map(({ version, dataKeys }) => [version, dataKeys > 0])).toEqual([
    [1, true],
    [2, false],
  ]);
});

it('a rotation waits for transactions that seal with the old key, which seals nothing afterwards', async () => {
  await start(1, 2);
  const management = connectDatabase({
    url: stores.database.managementUrl,
    app: 'spec',
    connectionsMax: 1,
  });
  const order: string[] = [];
  let rotating: Promise<unknown> | undefined;
  await management.transaction(async (sql) => {
    await sql.query('SELECT sealing_version(1)');
    rotating = rotate(1, 2).then(() => order.push('rotated'));
    await waitFor(async () => {
      const waiting = await stores.admin.query(
        `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`,
      );
      return waiting.length > 0;
    });
    order.push('committing');
  });
  await rotating;
  await management.close();
  expect(order).toEqual(['committing', 'rotated']);
});

it('a rotation continues where an interrupted one ended', async () => {
  const ctx = await start(1);
  const seal = (tenantId: string): Promise<Buffer> =>
    ctx.sealer.seal({ table: 'spec', column: 'value', tenantId, record: 'a' }, 'value');
  const tenantIds = Array.from(
    { length: 450 },
    (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  );
  for (const tenantId of tenantIds) await seal(tenantId);
  const interrupted = asRotation(stores, ringOf(1, 2), (rotation) => {
    let parts = 0;
    const transaction: Database['transaction'] = (work) => {
      parts += 1;
      return parts > 2 ? Promise.reject(new Error('killed')) : rotation.database.transaction(work);
    };
    return rotateKeys({ ...rotation, database: { ...rotation.database, transaction } });
  });
  await expect(interrupted).rejects.toThrow('killed');
  const half = await status(1, 2);
  expect(half.sealing).toBe(2);
  expect(half.uses.map(({ dataKeys }) => dataKeys > 0)).toEqual([true, true]);
  expect(half.uses.some((use) => mayBeTakenOut(half, use))).toBe(false);

  expect(await rotate(1, 2)).toMatchObject({ complete: true });
  const whole = await status(1, 2);
  expect(whole.uses.map((use) => mayBeTakenOut(whole, use))).toEqual([true, false]);
});

it('two concurrent rotations to different keys end with the newest', async () => {
  const ctx = await start(1, 2, 3);
  const { made } = await underLoad([ctx], async () => {
    const both = [1, 2, 3]
      .slice(1)
      .map((to) => asRotation(stores, ringOf(1, 2, 3), (rotation) => rotateKeys(rotation, to)));
    // The rotation to the older key may come too late, and then fails.
    await Promise.allSettled(both);
  });
  expect(await rotate(1, 2, 3)).toMatchObject({ complete: true });
  await expectAllOpen(await start(3), made);
});

it('a rotation changes no definition in force, and leaves nothing of the old key in Redis', async () => {
  const ctx = await start(1, 2);
  const made = await createTenant(ctx, { name: 'T', demo: true });
  const { version } =
    (await stores.admin.query<{ version: string }>('SELECT version FROM definition_head'))[0] ?? {};
  await waitFor(async () => (await status(1, 2)).uses[0]?.inRedis === 3);
  const { status: after } = await rotate(1, 2);
  expect(after.uses).toEqual([
    { version: 1, inRing: true, dataKeys: 0, definitions: 0, inRedis: 0 },
    {
      version: 2,
      inRing: true,
      dataKeys: expect.any(Number) as number,
      definitions: 3,
      // Processes bring them when they read them.
      inRedis: expect.any(Number) as number,
    },
  ]);
  await waitFor(() => (ctx.definitions.follower.head?.version ?? 0) === Number(version) + 3);
  await waitFor(async () => (await status(1, 2)).uses[1]?.inRedis === 3);
  await expectAllOpen(ctx, [made]);
});

it('while Redis is away, no old key is reported as unneeded', async () => {
  await start(1, 2);
  await stores.redis.stop();
  const { status: after, complete } = await rotate(1, 2);
  expect(complete).toBe(false);
  expect(after.uses.some((use) => mayBeTakenOut(after, use))).toBe(false);
  expect(describeStatus(after)).toMatch(
    /^1 .* \? .*must stay in KEY_RING: Redis does not answer$/m,
  );
});

it('a rotation reports damaged entries, leaves them alone and reseals the rest', async () => {
  const ctx = await start(1, 2);
  const made = await createTenant(ctx, { name: 'T', demo: true });
  await stores.admin.query(
    `UPDATE definition_log SET payload = set_byte(payload, length(payload) - 1, get_byte(payload, length(payload) - 1) # 1)
     WHERE kind = 'tenant'`,
  );
  const { damaged, complete, resealed } = await rotate(1, 2);
  expect({ damaged, complete, resealed }).toEqual({ damaged: 1, complete: false, resealed: 2 });
  await expectAllOpen(await start(1, 2), [made]);
});

it('a process without the sealing key is not ready, refuses to seal, and serves what it knows', async () => {
  const lacking = await start(1);
  const made = await createTenant(lacking, { name: 'T', demo: true });
  await rotate(1, 2);
  const readiness = await managementReadiness(lacking);
  expect(readiness).toMatchObject({ ready: false, components: { keys: 'down', postgres: 'up' } });
  await expect(createTenant(lacking, { name: 'T', demo: false })).rejects.toMatchObject({
    code: 'service_unavailable',
    message: 'The key ring has no master key of version 2',
  });
  const renewed = await start(1, 2);
  expect((await managementReadiness(renewed)).ready).toBe(true);
  await expectAllOpen(renewed, [made]);
});

it('a definition with a damaged header is unreadable, and every process stays ready', async () => {
  const ctx = await start(1);
  const made = await createTenant(ctx, { name: 'T', demo: true });
  await rotate(1, 2);
  await stores.admin.query(
    `WITH head AS (UPDATE definition_head SET version = version + 1 RETURNING version)
     UPDATE definition_log l SET version = head.version, payload = set_byte(payload, 4, 0)
     FROM head WHERE kind = 'tenant'`,
  );
  const renewed = await start(2);
  await expectAllOpen(renewed, [made]);
  expect(await managementReadiness(renewed)).toMatchObject({ ready: true });
});

it('a process without an older key is not ready while the key is needed', async () => {
  await createTenant(await start(1, 2), { name: 'T', demo: true });
  await asRotation(stores, ringOf(1, 2), async ({ database, ring }) => {
    await raiseSealingVersion(database, 2);
    await rewrapDataKeys(database, ring);
  });
  const early = await start(2);
  await waitFor(async () => (await managementReadiness(early)).components.keys === 'down');
  await rotate(1, 2);
  await waitFor(async () => (await managementReadiness(early)).ready);
});

it('a process that lost an old key too early does not start', async () => {
  await createTenant(await start(1, 2), { name: 'T', demo: false });
  await expect(startProcess(stores, ringOf(2))).rejects.toThrow('no master key of version 1');
});
