import { randomBytes, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Sql } from '@glovebox/database';
import { waitFor } from '@glovebox/testing';
import { DefinitionFollower, type DefinitionConnection } from './index';
import { payloadsKey } from './payloads';
import { WriterPoll } from './postgres-away';
import { copyRedis, putBack, startStage, type Stage } from './spec-stage';

let stage: Stage;
let raw: Redis;
let api: DefinitionConnection;
let gateway: DefinitionConnection;

beforeAll(async () => {
  stage = await startStage();
  raw = new Redis(stage.redis.url);
});

beforeEach(async () => {
  await raw.flushall();
  api = stage.connect({ writes: true });
  gateway = stage.connect();
  await Promise.all([api.start(), gateway.start()]);
});

afterEach(() => stage.disconnect());
afterAll(async () => {
  raw.disconnect();
  await stage.close();
});

const fieldOf = (id: string): string => `reactor:${id}`;
const valueOf = (id: string, connection = gateway): string | undefined =>
  stage.known(connection, id)?.configuration.value;

/** A definition that every process and Redis have. Returns the payload in Redis. */
async function announced(id: string, value: string): Promise<Buffer> {
  const before = await raw.hgetBuffer(payloadsKey, fieldOf(id));
  await api.announce(await stage.write(stage.reactor(id, { value })));
  await waitFor(() => valueOf(id) === value, { timeoutMs: 30_000 });
  const payload = await waitFor(async () => {
    const found = await raw.hgetBuffer(payloadsKey, fieldOf(id));
    return found && before?.equals(found) !== true ? found : undefined;
  });
  if (!payload) throw new Error('unreachable');
  return payload;
}

describe('a change', () => {
  it('is read from Postgres by the process that made it, and from Redis by all others', async () => {
    const before = { ...gateway.follower.taken };
    for (let nth = 0; nth < 20; nth += 1) await announced(randomUUID(), 'new');
    const redis = gateway.follower.taken.redis - before.redis;
    const postgres = gateway.follower.taken.postgres - before.postgres;
    expect(redis + postgres).toBe(20);
    // One that happens to ask between the commit and the announcement is the first to want it.
    expect(redis).toBeGreaterThan(10);
  });

  it('replaces the older state in Redis, and a deletion removes it', async () => {
    const id = randomUUID();
    const older = await announced(id, 'old');
    expect((await announced(id, 'new')).equals(older)).toBe(false);
    await api.announce(await stage.remove(id));
    expect(await raw.hexists(payloadsKey, fieldOf(id))).toBe(0);
  });

  it('keeps no process from the head of the log, however fast a definition changes', async () => {
    const { ring, management } = stage;
    const id = randomUUID();
    await stage.write(stage.reactor(id));
    let changes = 0;
    const sql: Sql = {
      async query(statement, values) {
        const isList = typeof statement === 'object';
        // Whoever wants a payload that was listed comes too late.
        if (!isList && changes < 20) {
          changes += 1;
          await stage.write(stage.reactor(id, { value: `change ${changes}` }));
        }
        return management.query(statement, values);
      },
    };
    const writers = new WriterPoll({ ring, redis: raw, subscriber: raw });
    const follower = new DefinitionFollower({ sql, ring, redis: raw, writers });
    await follower.start();
    expect(changes).toBe(1);
    const found = follower.lastKnown.find('reactor', stage.tenantId, id);
    expect(found?.configuration.value).toBe('change 1');
    await follower.stop();
  });

  it('leaves nothing in Redis for longer than a day', async () => {
    await announced(randomUUID(), 'new');
    const seconds = await raw.ttl(payloadsKey);
    expect(seconds).toBeGreaterThan(86_000);
    expect(seconds).toBeLessThanOrEqual(86_400);
  });
});

describe('an entry in Redis that is not the payload of this version', () => {
  const other = async (): Promise<Buffer> => announced(randomUUID(), 'other');
  const forgeries: [string, (older: Buffer) => Buffer | Promise<Buffer>][] = [
    ['an older state of the definition', (older) => older],
    ['another definition', other],
    ['bytes of the same length', ({ length }) => randomBytes(length)],
    ['an empty value', () => Buffer.alloc(0)],
    ['a value of 64 MiB', () => randomBytes(64 * 1024 * 1024)],
  ];

  it.each(forgeries)('is not taken: %s', async (_, forge) => {
    const id = randomUUID();
    const forged = await forge(await announced(id, 'old'));
    await stage.write(stage.reactor(id, { value: 'new' }));
    // Whoever reads the change from now on finds the forged value in Redis.
    await raw.hset(payloadsKey, fieldOf(id), forged);
    const late = stage.connect();
    await late.start();
    await waitFor(() => valueOf(id) === 'new', { timeoutMs: 30_000 });
    expect(valueOf(id, late)).toBe('new');
  });

  it('brings no deleted definition back', async () => {
    const id = randomUUID();
    const older = await announced(id, 'old');
    await api.announce(await stage.remove(id));
    await raw.hset(payloadsKey, fieldOf(id), older);
    const late = stage.connect();
    await late.start();
    expect([valueOf(id), valueOf(id, late)]).toEqual([undefined, undefined]);
  });

  it('costs a process nothing if it is huge: it stays in Redis', async () => {
    const id = randomUUID();
    await announced(id, 'old');
    await raw.hset(payloadsKey, fieldOf(id), randomBytes(64 * 1024 * 1024));
    const sentBytes = async (): Promise<number> =>
      Number(/total_net_output_bytes:(\d+)/.exec(await raw.info('stats'))?.[1]);
    const before = await sentBytes();
    const late = stage.connect();
    await late.start();
    expect(valueOf(id, late)).toBe('old');
    expect((await sentBytes()) - before).toBeLessThan(1024 * 1024);
  });
});

describe('Redis', () => {
  it('may be emptied: a process that starts reads Postgres and fills it, and the next reads Redis', async () => {
    const id = randomUUID();
    await announced(id, 'kept');
    await raw.flushall();
    const [first, second] = [stage.connect(), stage.connect()];
    await first.start();
    expect([valueOf(id, first), first.follower.taken.redis]).toEqual(['kept', 0]);
    await second.start();
    expect([valueOf(id, second), second.follower.taken.postgres]).toEqual(['kept', 0]);
  });

  it('may be put back to an older copy of itself: nothing of it comes back', async () => {
    const [changed, removed] = [randomUUID(), randomUUID()];
    await announced(changed, 'old');
    await announced(removed, 'old');
    const copy = await copyRedis(raw);
    await announced(changed, 'new');
    await api.announce(await stage.remove(removed));
    await putBack(raw, copy);
    const late = stage.connect();
    await late.start();
    for (const connection of [gateway, late]) {
      expect([valueOf(changed, connection), valueOf(removed, connection)]).toEqual([
        'new',
        undefined,
      ]);
    }
  });

  it('may hold something else under the name of the cache', async () => {
    await raw.flushall();
    await raw.set(payloadsKey, 'no hash');
    const id = randomUUID();
    await api.announce(await stage.write(stage.reactor(id, { value: 'new' })));
    await waitFor(() => valueOf(id) === 'new', { timeoutMs: 30_000 });
  });
});
