import { randomBytes, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { connectDatabase, enterTenant, type Database, type Sql } from '@glovebox/database';
import { parseKeyRing } from '@glovebox/seal';
import {
  createTestDatabase,
  startRedis,
  waitFor,
  type PrivateRedis,
  type TestDatabase,
} from '@glovebox/testing';
import {
  appendDefinition,
  appendDeletion,
  connectDefinitions,
  readLog,
  type DefinitionConnection,
  type ReactorDefinition,
} from './index';
import { RedisPrefix } from './redis-prefix';

const ring = parseKeyRing(`1:${randomBytes(32).toString('base64')}`);
const tenantId = randomUUID();

let testDatabase: TestDatabase;
let redisServer: PrivateRedis;
let management: Database;
const opened: DefinitionConnection[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  redisServer = await startRedis();
  management = connectDatabase({
    url: testDatabase.managementUrl,
    app: 'spec',
    connectionsMax: 20,
  });
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((connection) => connection.close()));
});

afterAll(async () => {
  await management.close();
  await redisServer.stop();
  await testDatabase.drop();
});

function connect(
  options: { relays?: boolean; url?: string; redisUrl?: string } = {},
): DefinitionConnection {
  const connection = connectDefinitions({
    app: 'spec',
    databaseUrl: options.url ?? testDatabase.dataUrl,
    redisUrl: options.redisUrl ?? redisServer.url,
    ring,
    relays: options.relays ?? false,
    onFault: () => undefined,
  });
  opened.push(connection);
  return connection;
}

function reactor(id: string, configuration: Record<string, string> = {}): ReactorDefinition {
  return {
    kind: 'reactor',
    id,
    tenantId,
    formulaId: randomUUID(),
    applicationId: null,
    configuration,
    isolation: 'warm',
  };
}

/** As the management API writes: in a transaction that has entered the tenant. */
const asTenant = (work: (sql: Sql) => Promise<number>): Promise<number> =>
  management.transaction(async (sql) => {
    await enterTenant(sql, tenantId);
    return work(sql);
  });
const write = (definition: ReactorDefinition): Promise<number> =>
  asTenant((sql) => appendDefinition(sql, ring, definition));
const remove = (id: string): Promise<number> =>
  asTenant((sql) => appendDeletion(sql, { kind: 'reactor', id, tenantId }));

describe('the log', () => {
  it('gives versions without a gap, in the order of the commits', async () => {
    const before = (await readLog(management, 0, 1)).head.version;
    const versions = await Promise.all(
      Array.from({ length: 100 }, () => write(reactor(randomUUID()))),
    );
    versions.sort((a, b) => a - b);
    expect(versions).toEqual(versions.map((_, index) => before + 1 + index));
    expect((await readLog(management, 0, 1)).head.version).toBe(before + 100);
  });

  it('a transaction that is rolled back leaves nothing, not even a gap', async () => {
    const before = await readLog(management, 0, 10_000);
    const failing = asTenant(async (sql) => {
      await appendDefinition(sql, ring, reactor(randomUUID()));
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await readLog(management, 0, 10_000)).toEqual(before);
  });

  it('keeps the newest state of each resource alone', async () => {
    const id = randomUUID();
    await write(reactor(id, { old: '1' }));
    const version = await write(reactor(id, { new: '2' }));
    const { entries } = await readLog(management, 0, 10_000);
    expect(entries.filter((entry) => entry.id === id).map((entry) => entry.version)).toEqual([
      version,
    ]);
  });

  it('shows nothing of a definition to who reads the table or Redis', async () => {
    const connection = connect({ relays: true });
    await connection.start();
    await connection.relay.announce(await write(reactor(randomUUID(), { secret: 'canary-4711' })));
    const { entries } = await readLog(management, 0, 10_000);
    expect(entries.some((entry) => entry.payload?.includes('canary'))).toBe(false);
    const raw = new Redis(redisServer.url);
    const stored = Object.entries(await raw.hgetall('{glovebox}:definitions:entries'));
    raw.disconnect();
    expect(stored.length).toBeGreaterThan(0);
    expect(stored.some(([, value]) => Buffer.from(value, 'base64').includes('canary'))).toBe(false);
  });
});

describe('a change that was announced', () => {
  it('is in force in every follower', async () => {
    const gateways = [connect(), connect(), connect()];
    const api = connect({ relays: true, url: testDatabase.managementUrl });
    await Promise.all([...gateways, api].map((connection) => connection.start()));
    const id = randomUUID();
    for (const value of ['1', '2', '3']) {
      await api.relay.announce(await write(reactor(id, { value })));
      for (const { follower } of gateways) {
        const seen = follower.fresh()?.find('reactor', tenantId, id);
        expect(seen?.configuration).toEqual({ value });
      }
    }
    await api.relay.announce(await remove(id));
    for (const { follower } of gateways) {
      expect(follower.fresh()?.find('reactor', tenantId, id)).toBeUndefined();
    }
  });

  it('belongs to its tenant', async () => {
    const connection = connect({ relays: true });
    await connection.start();
    const id = randomUUID();
    await connection.relay.announce(await write(reactor(id)));
    const definitions = await connection.follower.current();
    expect(definitions.find('reactor', tenantId, id)).toBeDefined();
    expect(definitions.find('reactor', randomUUID(), id)).toBeUndefined();
  });

  it('arrives without an announcement too, within a second', async () => {
    const connection = connect({ relays: true });
    await connection.start();
    const id = randomUUID();
    await write(reactor(id));
    const startedAt = performance.now();
    await waitFor(async () =>
      Boolean((await connection.follower.current()).find('reactor', tenantId, id)),
    );
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});

describe('Redis is a prefix of the log', () => {
  it('a late writer cannot bring a deleted definition back', async () => {
    const connection = connect({ relays: true });
    await connection.start();
    const id = randomUUID();
    const created = await write(reactor(id));
    const stale = await readLog(management, created - 1, 10);
    await connection.relay.announce(created);
    await connection.relay.announce(await remove(id));

    const prefix = new RedisPrefix(connection.redis);
    const { head } = await prefix.apply(`${stale.head.epoch}:${created - 1}`, stale, {
      mode: 'continue',
      announce: true,
      relay: randomUUID(),
      tickets: [],
    });
    expect(head?.version).toBeGreaterThan(created);
    const late = connect();
    await late.start();
    await waitFor(async () => !(await late.follower.current()).find('reactor', tenantId, id));
    expect((await connection.follower.current()).find('reactor', tenantId, id)).toBeUndefined();
  });

  it('is rebuilt after it has lost everything, and nothing stops meanwhile', async () => {
    const connection = connect({ relays: true });
    await connection.start();
    const id = randomUUID();
    await connection.relay.announce(await write(reactor(id)));
    await connection.redis.flushall();
    expect((await connection.follower.current()).find('reactor', tenantId, id)).toBeDefined();
    const prefix = new RedisPrefix(connection.redis);
    const { head } = await readLog(management, 0, 1);
    await waitFor(async () => (await prefix.survey()).head?.version === head.version);
    const look = await prefix.look(randomUUID(), 1, 0, 100_000);
    expect(look?.part.entries.some((entry) => entry.id === id)).toBe(true);
  });

  it('answers a ticket only after Postgres was asked', async () => {
    const connection = connect({ relays: true });
    await connection.start();
    const prefix = new RedisPrefix(connection.redis);
    const follower = randomUUID();
    await waitFor(async () => (await prefix.look(follower, 1, 0, 1))?.answered?.ticket === 1);
    await connection.relay.stop();
    expect((await prefix.look(follower, 2, 0, 1))?.answered?.ticket).toBe(1);
    expect((await prefix.look(randomUUID(), 1, 0, 1))?.answered?.ticket).not.toBe(1);
  });

  it.each(['entries', 'order'])('that lost its %s is not believed, and made anew', async (lost) => {
    const connection = connect({ relays: true });
    await connection.start();
    const id = randomUUID();
    await connection.relay.announce(await write(reactor(id)));
    await connection.relay.stop();
    const prefix = new RedisPrefix(connection.redis);
    await connection.redis.del(`{glovebox}:definitions:${lost}`);
    expect(await prefix.look(randomUUID(), 1, 0, 1)).toBeUndefined();
    const other = connect({ relays: true });
    await other.start();
    const look = await waitFor(() => prefix.look(randomUUID(), 1, 0, 100_000));
    expect(look?.part.entries.some((entry) => entry.id === id)).toBe(true);
  });

  it.each([`${randomUUID()}:999999`, 'nonsense'])('that says %s is begun anew', async (text) => {
    const connection = connect({ relays: true });
    await connection.redis.once('ready', () => undefined);
    const raw = new Redis(redisServer.url);
    await raw.set('{glovebox}:definitions:head', text);
    await raw.hset('{glovebox}:definitions:entries', `reactor:${randomUUID()}:${tenantId}`, 'x');
    await connection.start();
    const { head } = await readLog(management, 0, 1);
    await waitFor(
      async () =>
        (await raw.get('{glovebox}:definitions:head')) === `${head.epoch}:${head.version}`,
    );
    expect(await raw.hvals('{glovebox}:definitions:entries')).not.toContain('x');
    raw.disconnect();
  });
});

describe('while Redis is away', () => {
  it('followers keep their lease from Postgres, and see changes within a second', async () => {
    const own = await startRedis();
    const connection = connect({ relays: true, redisUrl: own.url });
    await connection.start();
    await own.kill();
    const id = randomUUID();
    await connection.relay.announce(await write(reactor(id)));
    const startedAt = performance.now();
    await waitFor(async () =>
      Boolean((await connection.follower.current()).find('reactor', tenantId, id)),
    );
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    await connection.relay.announce(await remove(id));
    await waitFor(async () => !(await connection.follower.current()).find('reactor', tenantId, id));
  });
});

describe('when neither store can be asked', () => {
  it('the lease ends and calls are refused with 503', async () => {
    const own = await startRedis();
    const database = await createTestDatabase();
    const connection = connect({ relays: true, redisUrl: own.url, url: database.dataUrl });
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
