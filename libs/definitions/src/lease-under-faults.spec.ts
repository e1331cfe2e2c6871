import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { startTcpRelay, waitFor, type TcpRelay } from '@glovebox/testing';
import type { DefinitionConnection } from './index';
import { changeChannel, keys } from './redis-scripts';
import { copyRedis, putBack, startStage, type Stage } from './spec-stage';

let stage: Stage;
let toPostgres: TcpRelay;
let toRedis: TcpRelay;
let raw: Redis;
let api: DefinitionConnection;
let gateway: DefinitionConnection;

beforeAll(async () => {
  stage = await startStage();
  raw = new Redis(stage.redis.url);
});

beforeEach(async () => {
  await raw.flushall();
  toPostgres = await startTcpRelay(stage.database.dataUrl);
  toRedis = await startTcpRelay(stage.redis.url);
  api = writer({ databaseUrl: toPostgres.url });
  gateway = stage.connect({
    databaseUrl: toPostgres.url,
    redisUrl: toRedis.url,
    postgresAwayMaxMs: 60_000,
  });
  await Promise.all([api.start(), gateway.start()]);
  await trusts(gateway, 'redis');
});

afterEach(async () => {
  await Promise.all([toPostgres.close(), toRedis.close()]);
  await stage.disconnect();
});

afterAll(async () => {
  raw.disconnect();
  await stage.close();
});

const writer = (options: { databaseUrl?: string; redisUrl?: string } = {}): DefinitionConnection =>
  stage.connect({ relays: true, writes: true, ...options });
const trusts = ({ follower }: DefinitionConnection, source: string | undefined): Promise<unknown> =>
  waitFor(() => follower.source === source, { timeoutMs: 10_000 });

async function announced(): Promise<string> {
  const id = randomUUID();
  await api.relay.announce(await stage.write(stage.reactor(id)));
  await waitFor(() => stage.find(gateway, id));
  return id;
}

async function refusesCalls({ follower }: DefinitionConnection): Promise<void> {
  await waitFor(() => follower.fresh() === undefined, { timeoutMs: 10_000 });
  await expect(follower.current()).rejects.toMatchObject({
    code: 'service_unavailable',
    retryAfterSeconds: 1,
  });
}

describe('a lost message', () => {
  it('is made up for by the next look', async () => {
    const id = await announced();
    await raw.client('KILL', 'TYPE', 'PUBSUB');
    await stage.remove(id);
    await waitFor(() => gateway.follower.fresh() && !stage.find(gateway, id));
  });

  it('is no lost subscription: it is made again whenever its connection dies', async () => {
    const subscribed = async (): Promise<boolean> =>
      Number((await raw.pubsub('NUMSUB', changeChannel))[1]) === 2;
    await waitFor(subscribed);
    for (let round = 0; round < 30; round += 1) {
      await raw.client('KILL', 'TYPE', 'NORMAL', 'SKIPME', 'YES');
      await raw.client('KILL', 'TYPE', 'PUBSUB');
    }
    await waitFor(subscribed, { timeoutMs: 20_000 });
  });
});

describe('Redis', () => {
  it('is replaced by Postgres while it stalls, and believed again when it answers', async () => {
    const id = await announced();
    toRedis.stall();
    await trusts(gateway, 'postgres');
    await api.relay.announce(await stage.remove(id));
    await waitFor(() => gateway.follower.fresh() && !stage.find(gateway, id));
    await toRedis.restore();
    await trusts(gateway, 'redis');
    expect(stage.find(gateway, id)).toBeUndefined();
  });

  it('extends no lease while no relay writes to it', async () => {
    await api.relay.stop();
    await trusts(gateway, 'postgres');
  });

  it('extends no lease after it was put back to an earlier state', async () => {
    const id = await announced();
    const copy = await copyRedis(raw);
    await api.relay.announce(await stage.remove(id));
    await api.close();
    await toPostgres.cut();
    await putBack(raw, copy);
    await refusesCalls(gateway);
    await toPostgres.restore();
    await gateway.follower.current();
    expect(stage.find(gateway, id)).toBeUndefined();
  });
});

describe('while Postgres refuses every writer', () => {
  it('calls go on, and they go on with Postgres when it is back', async () => {
    const id = await announced();
    await toPostgres.cut();
    await trusts(gateway, 'writers');
    const leases = new Set<number>();
    await waitFor(async () => {
      const definitions = await gateway.follower.current();
      expect(definitions.find('reactor', stage.tenantId, id)).toBeDefined();
      leases.add(Math.round(performance.now() / 1_000));
      return leases.size === 3;
    });
    await toPostgres.restore();
    await trusts(gateway, 'redis');
  });

  it('a change that a writer made before is in force', async () => {
    const id = await announced();
    toRedis.stall();
    await api.relay.announce(await stage.remove(id));
    await toPostgres.cut();
    await refusesCalls(gateway);
    await toRedis.restore();
    await trusts(gateway, 'writers');
    expect(stage.find(gateway, id)).toBeUndefined();
  });

  it('an emptied Redis ends the calls: it cannot stand in for Postgres', async () => {
    await announced();
    await toPostgres.cut();
    await trusts(gateway, 'writers');
    await raw.flushall();
    await refusesCalls(gateway);
  });

  it('a Redis that has less than a writer knows of cannot bring a change back', async () => {
    const [ownPostgres, ownRedis] = [
      await startTcpRelay(stage.database.dataUrl),
      await startTcpRelay(stage.redis.url),
    ];
    const behind = stage.connect({
      databaseUrl: ownPostgres.url,
      redisUrl: ownRedis.url,
      postgresAwayMaxMs: 60_000,
    });
    await behind.start();
    const id = await announced();
    await waitFor(() => stage.find(behind, id));
    await ownPostgres.cut();
    const copy = await copyRedis(raw);
    ownRedis.stall();
    await api.relay.announce(await stage.remove(id));
    await toPostgres.cut();
    await putBack(raw, copy);
    await ownRedis.restore();
    const ticket = async (): Promise<number> =>
      Math.max(...Object.values(await raw.hgetall(keys.tickets)).map(Number));
    // Looks enough for the relay to have answered them, if it ever did.
    const drawn = await ticket();
    await waitFor(async () => (await ticket()) > drawn + 8);
    await refusesCalls(behind);
    await Promise.all([ownPostgres.close(), ownRedis.close()]);
  });

  it('calls end after the longest time allowed', async () => {
    const impatient = stage.connect({ databaseUrl: toPostgres.url, postgresAwayMaxMs: 1_500 });
    await impatient.start();
    await toPostgres.cut();
    await trusts(impatient, 'writers');
    await refusesCalls(impatient);
  });
});

describe('calls end with 503, since a change may be unknown,', () => {
  it('when Postgres hangs', async () => {
    toPostgres.stall();
    await refusesCalls(gateway);
  });

  it('when Postgres refuses one writer, and another is cut off from Redis', async () => {
    const ownLine = await startTcpRelay(stage.redis.url);
    const other = writer({ redisUrl: ownLine.url });
    await other.start();
    await waitFor(async () => (await raw.hlen(keys.writers)) === 2);
    await ownLine.cut();
    await toPostgres.cut();
    await refusesCalls(gateway);
    // It did reach Postgres, and acknowledged a change that no message tells of.
    await other.relay.announce(await stage.write(stage.reactor(randomUUID())));
    await refusesCalls(gateway);
    await ownLine.close();
  });

  it('when Postgres refuses this process alone, unless a relay reaches Postgres', async () => {
    const through = await startTcpRelay(stage.database.dataUrl);
    const cutOff = stage.connect({ databaseUrl: through.url, postgresAwayMaxMs: 60_000 });
    await cutOff.start();
    await through.cut();
    const id = await announced();
    await waitFor(() => stage.find(cutOff, id));
    await trusts(cutOff, 'redis');
    await api.close();
    await refusesCalls(cutOff);
  });
});

describe('a change of a definition', () => {
  it('is not acknowledged if Postgres is gone before Redis has it', async () => {
    const version = await stage.write(stage.reactor(randomUUID()));
    await toPostgres.cut();
    // A round of the relay may have carried it over; what comes after the cut cannot arrive.
    const announcing = api.relay.announce(version + 1);
    await expect(announcing).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: 1,
    });
  });

  it('is acknowledged without Redis as long as Postgres answers', async () => {
    const lone = writer({ databaseUrl: toPostgres.url, redisUrl: toRedis.url });
    await lone.start();
    await toRedis.cut();
    await lone.relay.announce(await stage.write(stage.reactor(randomUUID())));
    await toPostgres.cut();
    await expect(lone.relay.announce(1)).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});
