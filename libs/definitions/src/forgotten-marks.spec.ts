import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Sql } from '@glovebox/database';
import { startTcpRelay, waitFor } from '@glovebox/testing';
import { appendDefinition, appendDeletion } from './log';
import { copyRedis, putBack, startStage, type Stage } from './spec-stage';
import { goneMax, keys } from './redis-scripts';

let stage: Stage;
let raw: Redis;

beforeAll(async () => {
  stage = await startStage();
  raw = new Redis(stage.redis.url);
});
beforeEach(() => raw.flushall());
afterEach(() => stage.disconnect());
afterAll(async () => {
  raw.disconnect();
  await stage.close();
});

/** A relay, and a living definition in Redis. */
async function relayed() {
  const relay = stage.connect({ relays: true });
  await relay.start();
  const id = randomUUID();
  await reach(await stage.write(stage.reactor(id)));
  return { relay, id };
}

const headVersion = async (): Promise<number> => Number((await raw.get(keys.head))?.split(':')[1]);

const reach = (version: number): Promise<boolean> =>
  waitFor(async () => (await headVersion()) === version);

/** Definitions in Redis, deleted ones included. All structures must agree. */
async function known(): Promise<number> {
  const [entries, order] = [await raw.hlen(keys.entries), await raw.zcard(keys.order)];
  expect(order).toBe(entries);
  expect(await raw.hlen(keys.proofs)).toBeLessThanOrEqual(entries);
  return entries;
}

async function createAndDelete(count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const each = (append: (sql: Sql, id: string) => Promise<number>): Promise<number> =>
    stage.asTenant(async (sql) => {
      let version = 0;
      for (const id of ids) version = await append(sql, id);
      return version;
    });
  await reach(await each((sql, id) => appendDefinition(sql, stage.ring, stage.reactor(id))));
  const { tenantId } = stage;
  await reach(await each((sql, id) => appendDeletion(sql, { kind: 'reactor', id, tenantId })));
}

/** Lets the relay believe that a minute has passed, and waits until the deleted are forgotten. */
async function aMinuteLater(): Promise<void> {
  for (const name of await raw.zrange(keys.gone, 0, -1)) await raw.zadd(keys.gone, 'XX', 1, name);
  const [log] = await stage.management.query<{ living: number }>(
    'SELECT count(payload)::int AS living FROM definition_log',
  );
  await waitFor(async () => (await known()) <= (log?.living ?? 0) + 1);
}

/** Without the proofs of the newest parts, of which Redis keeps a fixed number. */
async function usedBytes(): Promise<number> {
  const { entries, order, proofs, gone } = keys;
  const used = [entries, order, proofs, gone].map((key) => raw.memory('USAGE', key, 'SAMPLES', 0));
  return (await Promise.all(used)).reduce<number>((sum, bytes) => sum + Number(bytes), 0);
}

it('Redis forgets definitions that were deleted, and is as large as before', async () => {
  await relayed();
  const [before, entries] = [await usedBytes(), await known()];
  await createAndDelete(2_000);
  expect(await known()).toBeLessThanOrEqual(entries + goneMax + 1);
  await aMinuteLater();
  // Its tables keep the size of their peak until they are written again. 2,000 marks take a megabyte.
  await waitFor(async () => (await usedBytes()) - before < 160_000);
});

it('a follower that was cut off from a deletion that Redis has forgotten waits for Postgres', async () => {
  const { id } = await relayed();
  const [toPostgres, toRedis] = await Promise.all(
    [stage.database.dataUrl, stage.redis.url].map((url) => startTcpRelay(url)),
  );
  if (!toPostgres || !toRedis) throw new Error('no relay');
  const faults: unknown[] = [];
  const cutOff = stage.connect({
    databaseUrl: toPostgres.url,
    redisUrl: toRedis.url,
    onFault: (error) => faults.push(error instanceof Error ? error.name : error),
  });
  await cutOff.start();
  expect(stage.find(cutOff, id)).toBeDefined();
  await Promise.all([toPostgres.cut(), toRedis.cut()]);
  await waitFor(() => cutOff.follower.fresh() === undefined);
  await stage.remove(id);
  await createAndDelete(20);
  await aMinuteLater();
  await toRedis.restore();
  await waitFor(() => faults.includes('PartIncomplete'));
  expect(cutOff.follower.fresh()).toBeUndefined();
  await toPostgres.restore();
  await cutOff.follower.current();
  expect(stage.find(cutOff, id)).toBeUndefined();
  await Promise.all([toPostgres.close(), toRedis.close()]);
});

it('an older Redis, and an emptied one, bring no deleted definition back', async () => {
  const { id } = await relayed();
  const follower = stage.connect();
  await follower.start();
  const older = await copyRedis(raw);
  await stage.remove(id);
  await createAndDelete(20);
  const version = await headVersion();
  await aMinuteLater();
  for (const change of [() => putBack(raw, older), () => raw.flushall()]) {
    await change();
    await reach(version);
    expect((await raw.hget(keys.entries, `reactor:${id}:${stage.tenantId}`)) ?? '').toBe('');
    await waitFor(() => follower.follower.source === 'redis');
    expect(stage.find(follower, id)).toBeUndefined();
  }
});

it('a definition that is written anew after its deletion stays', async () => {
  const { id } = await relayed();
  await stage.remove(id);
  await reach(await stage.write(stage.reactor(id, { value: 'anew' })));
  await createAndDelete(2);
  await aMinuteLater();
  await waitFor(async () => (await raw.zcard(keys.gone)) <= 1);
  expect(await raw.hget(keys.entries, `reactor:${id}:${stage.tenantId}`)).not.toBe('');
  const follower = stage.connect();
  await follower.start();
  expect(stage.find(follower, id)?.configuration).toEqual({ value: 'anew' });
});
