import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { createTestDatabase, startRedis, waitFor } from '@glovebox/testing';
import { appendDefinition, listLog } from './index';
import { payloadsKey } from './payloads';
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
    const before = (await listLog(stage.management, 0, 1)).head.version;
    const versions: number[] = [];
    const write10 = async (): Promise<void> => {
      for (let nth = 0; nth < 10; nth += 1) {
        versions.push(await stage.write(stage.reactor(randomUUID())));
      }
    };
    await Promise.all(Array.from({ length: 10 }, write10));
    versions.sort((a, b) => a - b);
    expect(versions).toEqual(versions.map((_, index) => before + 1 + index));
    expect((await listLog(stage.management, 0, 1)).head.version).toBe(before + 100);
  });

  it('has nothing of a transaction that is rolled back, not even a gap', async () => {
    const before = await listLog(stage.management, 0, 10_000);
    const failing = stage.asTenant(async (sql) => {
      await appendDefinition(sql, stage.ring, stage.reactor(randomUUID()));
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await listLog(stage.management, 0, 10_000)).toEqual(before);
  });

  it('keeps the newest state of each resource alone', async () => {
    const id = randomUUID();
    await stage.write(stage.reactor(id, { old: '1' }));
    const version = await stage.write(stage.reactor(id, { new: '2' }));
    const { entries } = await listLog(stage.management, 0, 10_000);
    expect(entries.filter((entry) => entry.id === id).map((entry) => entry.version)).toEqual([
      version,
    ]);
  });

  it('shows nothing of a definition to a reader of the table or of Redis', async () => {
    const connection = stage.connect({ writes: true });
    await connection.start();
    await connection.announce(
      await stage.write(stage.reactor(randomUUID(), { secret: 'canary-4711' })),
    );
    const entries = await stage.management.query<{ payload: Buffer | null }>(
      'SELECT payload FROM definition_log',
    );
    expect(entries.some(({ payload }) => payload?.includes('canary'))).toBe(false);
    const raw = new Redis(stage.redis.url);
    const stored = Object.values(await raw.hgetallBuffer(payloadsKey));
    raw.disconnect();
    expect(stored.length).toBeGreaterThan(0);
    expect(stored.some((value) => value.includes('canary'))).toBe(false);
  });
});

describe('an announced change', () => {
  it('is in force in every follower', async () => {
    const gateways = [stage.connect(), stage.connect(), stage.connect()];
    const api = stage.connect({ writes: true, databaseUrl: stage.database.managementUrl });
    await Promise.all([...gateways, api].map((connection) => connection.start()));
    const id = randomUUID();
    for (const value of ['1', '2', '3']) {
      await api.announce(await stage.write(stage.reactor(id, { value })));
      for (const gateway of gateways) {
        const seen = (await stage.current(gateway)).find('reactor', stage.tenantId, id);
        expect(seen?.configuration).toEqual({ value });
      }
    }
    await api.announce(await stage.remove(id));
    for (const gateway of gateways) {
      const definitions = await stage.current(gateway);
      expect(definitions.find('reactor', stage.tenantId, id)).toBeUndefined();
    }
  });

  it('belongs to its tenant', async () => {
    const connection = stage.connect({ writes: true });
    await connection.start();
    const id = randomUUID();
    await connection.announce(await stage.write(stage.reactor(id)));
    const definitions = await stage.current(connection);
    expect(definitions.find('reactor', stage.tenantId, id)).toBeDefined();
    expect(definitions.find('reactor', randomUUID(), id)).toBeUndefined();
  });

  it('arrives within a second even if its announcement is lost', async () => {
    const connection = stage.connect({ writes: true });
    await connection.start();
    const id = randomUUID();
    await stage.write(stage.reactor(id));
    await aSecondLater();
    const definitions = await stage.current(connection);
    expect(definitions.find('reactor', stage.tenantId, id)).toBeDefined();
  });
});

describe('while Redis is away', () => {
  it('followers keep their lease by Postgres, and see changes within a second', async () => {
    const own = await startRedis();
    const connection = stage.connect({ writes: true, redisUrl: own.url });
    await connection.start();
    await own.kill();
    const id = randomUUID();
    await connection.announce(await stage.write(stage.reactor(id)));
    await aSecondLater();
    const definitions = await stage.current(connection);
    expect(definitions.find('reactor', stage.tenantId, id)).toBeDefined();
    await connection.announce(await stage.remove(id));
    await aSecondLater();
    const later = await stage.current(connection);
    expect(later.find('reactor', stage.tenantId, id)).toBeUndefined();
  });
});

describe('while neither store can be asked', () => {
  it('the lease ends and calls are refused with 503', async () => {
    const own = await startRedis();
    const database = await createTestDatabase();
    const connection = stage.connect({
      writes: true,
      redisUrl: own.url,
      databaseUrl: database.dataUrl,
    });
    await connection.start();
    await stage.current(connection);
    await own.kill();
    await database.drop();
    await waitFor(() => connection.follower.fresh() === undefined, { timeoutMs: 30_000 });
    await expect(connection.follower.current()).rejects.toMatchObject({
      code: 'service_unavailable',
      status: 503,
    });
  });
});
