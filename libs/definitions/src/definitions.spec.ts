import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { createTestDatabase, startRedis, waitFor } from '@glovebox/testing';
import { appendDefinition, readLog } from './index';
import { RedisPrefix } from './redis-prefix';
import { startStage, type Stage } from './spec-stage';

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});

afterEach(() => stage.disconnect());
afterAll(() => stage.close());

/** When it must be in force: what a process then still hands out is wrong, however slow the machine. */
async function aSecondLater(): Promise<void> {
  const since = performance.now();
  await waitFor(() => performance.now() - since > 1_000);
}

describe('the definition log', () => {
  it('gives versions without a gap, in the order of the commits', async () => {
    const before = (await readLog(stage.management, 0, 1)).head.version;
    const versions = await Promise.all(
      Array.from({ length: 100 }, () => stage.write(stage.reactor(randomUUID()))),
    );
    versions.sort((a, b) => a - b);
    expect(versions).toEqual(versions.map((_, index) => before + 1 + index));
    expect((await readLog(stage.management, 0, 1)).head.version).toBe(before + 100);
  });

  it('has nothing of a transaction that is rolled back, not even a gap', async () => {
    const before = await readLog(stage.management, 0, 10_000);
    const failing = stage.asTenant(async (sql) => {
      await appendDefinition(sql, stage.ring, stage.reactor(randomUUID()));
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await readLog(stage.management, 0, 10_000)).toEqual(before);
  });

  it('keeps the newest state of each resource alone', async () => {
    const id = randomUUID();
    await stage.write(stage.reactor(id, { old: '1' }));
    const version = await stage.write(stage.reactor(id, { new: '2' }));
    const { entries } = await readLog(stage.management, 0, 10_000);
    expect(entries.filter((entry) => entry.id === id).map((entry) => entry.version)).toEqual([
      version,
    ]);
  });

  it('shows nothing of a definition to a reader of the table or of Redis', async () => {
    const connection = stage.connect({ relays: true });
    await connection.start();
    await connection.relay.announce(
      await stage.write(stage.reactor(randomUUID(), { secret: 'canary-4711' })),
    );
    const { entries } = await readLog(stage.management, 0, 10_000);
    expect(entries.some((entry) => entry.payload?.includes('canary'))).toBe(false);
    const raw = new Redis(stage.redis.url);
    const stored = Object.entries(await raw.hgetall('{glovebox}:definitions:entries'));
    raw.disconnect();
    expect(stored.length).toBeGreaterThan(0);
    expect(stored.some(([, value]) => Buffer.from(value, 'base64').includes('canary'))).toBe(false);
  });
});

describe('an announced change', () => {
  it('is in force in every follower', async () => {
    const gateways = [stage.connect(), stage.connect(), stage.connect()];
    const api = stage.connect({ relays: true, databaseUrl: stage.database.managementUrl });
    await Promise.all([...gateways, api].map((connection) => connection.start()));
    const id = randomUUID();
    for (const value of ['1', '2', '3']) {
      await api.relay.announce(await stage.write(stage.reactor(id, { value })));
      for (const { follower } of gateways) {
        const seen = follower.fresh()?.find('reactor', stage.tenantId, id);
        expect(seen?.configuration).toEqual({ value });
      }
    }
    await api.relay.announce(await stage.remove(id));
    for (const { follower } of gateways) {
      expect(follower.fresh()?.find('reactor', stage.tenantId, id)).toBeUndefined();
    }
  });

  it('belongs to its tenant', async () => {
    const connection = stage.connect({ relays: true });
    await connection.start();
    const id = randomUUID();
    await connection.relay.announce(await stage.write(stage.reactor(id)));
    const definitions = await connection.follower.current();
    expect(definitions.find('reactor', stage.tenantId, id)).toBeDefined();
    expect(definitions.find('reactor', randomUUID(), id)).toBeUndefined();
  });

  it('arrives within a second even if its announcement is lost', async () => {
    const connection = stage.connect({ relays: true });
    await connection.start();
    const id = randomUUID();
    await stage.write(stage.reactor(id));
    await aSecondLater();
    const definitions = await connection.follower.current();
    expect(definitions.find('reactor', stage.tenantId, id)).toBeDefined();
  });
});

describe('the copy of the log in Redis', () => {
  it('gets no deleted definition back from a late writer', async () => {
    const connection = stage.connect({ relays: true });
    await connection.start();
    const id = randomUUID();
    const created = await stage.write(stage.reactor(id));
    const stale = await readLog(stage.management, created - 1, 10);
    await connection.relay.announce(created);
    await connection.relay.announce(await stage.remove(id));

    const prefix = new RedisPrefix(connection.redis);
    const { head } = await prefix.apply(`${stale.head.epoch}:${created - 1}`, stale, {
      mode: 'continue',
      announce: true,
      relay: randomUUID(),
      tickets: [],
    });
    expect(head?.version).toBeGreaterThan(created);
    const late = stage.connect();
    await late.start();
    await waitFor(async () => !(await late.follower.current()).find('reactor', stage.tenantId, id));
    expect(
      (await connection.follower.current()).find('reactor', stage.tenantId, id),
    ).toBeUndefined();
  });

  it('is rebuilt after Redis has lost everything, and nothing stops meanwhile', async () => {
    const connection = stage.connect({ relays: true });
    await connection.start();
    const id = randomUUID();
    await connection.relay.announce(await stage.write(stage.reactor(id)));
    await connection.redis.flushall();
    expect((await connection.follower.current()).find('reactor', stage.tenantId, id)).toBeDefined();
    const prefix = new RedisPrefix(connection.redis);
    const { head } = await readLog(stage.management, 0, 1);
    await waitFor(async () => (await prefix.survey()).head?.version === head.version);
    const look = await prefix.look(randomUUID(), 1, 0, 100_000);
    expect(look?.part.entries.some((entry) => entry.id === id)).toBe(true);
  });

  it('gets the answer to a ticket only after Postgres was asked', async () => {
    const connection = stage.connect({ relays: true });
    await connection.start();
    const prefix = new RedisPrefix(connection.redis);
    const follower = randomUUID();
    await waitFor(async () => (await prefix.look(follower, 1, 0, 1))?.answered?.ticket === 1);
    await connection.relay.stop();
    expect((await prefix.look(follower, 2, 0, 1))?.answered?.ticket).toBe(1);
    expect((await prefix.look(randomUUID(), 1, 0, 1))?.answered?.ticket).not.toBe(1);
  });

  it.each(['entries', 'order'])(
    'is not believed and is made anew if it lost its %s',
    async (lost) => {
      const connection = stage.connect({ relays: true });
      await connection.start();
      const id = randomUUID();
      await connection.relay.announce(await stage.write(stage.reactor(id)));
      await connection.relay.stop();
      const prefix = new RedisPrefix(connection.redis);
      await connection.redis.del(`{glovebox}:definitions:${lost}`);
      expect(await prefix.look(randomUUID(), 1, 0, 1)).toBeUndefined();
      const other = stage.connect({ relays: true });
      await other.start();
      const look = await waitFor(() => prefix.look(randomUUID(), 1, 0, 100_000));
      expect(look?.part.entries.some((entry) => entry.id === id)).toBe(true);
    },
  );

  it.each([`${randomUUID()}:999999`, 'nonsense'])(
    'is begun anew if its head is %s',
    async (text) => {
      const connection = stage.connect({ relays: true });
      await connection.redis.once('ready', () => undefined);
      const raw = new Redis(stage.redis.url);
      await raw.set('{glovebox}:definitions:head', text);
      await raw.hset(
        '{glovebox}:definitions:entries',
        `reactor:${randomUUID()}:${stage.tenantId}`,
        'x',
      );
      await connection.start();
      const { head } = await readLog(stage.management, 0, 1);
      await waitFor(
        async () =>
          (await raw.get('{glovebox}:definitions:head')) === `${head.epoch}:${head.version}`,
      );
      expect(await raw.hvals('{glovebox}:definitions:entries')).not.toContain('x');
      raw.disconnect();
    },
  );
});

describe('while Redis is away', () => {
  it('followers keep their lease by Postgres, and see changes within a second', async () => {
    const own = await startRedis();
    const connection = stage.connect({ relays: true, redisUrl: own.url });
    await connection.start();
    await own.kill();
    const id = randomUUID();
    await connection.relay.announce(await stage.write(stage.reactor(id)));
    await aSecondLater();
    const definitions = await connection.follower.current();
    expect(definitions.find('reactor', stage.tenantId, id)).toBeDefined();
    await connection.relay.announce(await stage.remove(id));
    await aSecondLater();
    const later = await connection.follower.current();
    expect(later.find('reactor', stage.tenantId, id)).toBeUndefined();
  });
});

describe('while neither store can be asked', () => {
  it('the lease ends and calls are refused with 503', async () => {
    const own = await startRedis();
    const database = await createTestDatabase();
    const connection = stage.connect({
      relays: true,
      redisUrl: own.url,
      databaseUrl: database.dataUrl,
    });
    await connection.start();
    expect(connection.follower.fresh()).toBeDefined();
    await own.kill();
    await database.drop();
    await waitFor(() => connection.follower.fresh() === undefined);
    await expect(connection.follower.current()).rejects.toMatchObject({
      code: 'service_unavailable',
      status: 503,
    });
  });
});
