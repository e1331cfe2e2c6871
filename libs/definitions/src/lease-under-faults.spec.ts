import { randomBytes, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { connectDatabase } from '@glovebox/database';
import { startTcpRelay, waitFor, type TcpRelay } from '@glovebox/testing';
import type { DefinitionConnection } from './index';
import { changeChannel } from './announcements';
import { acceptDatabase } from './marker';
import { questionChannel, writersKey } from './postgres-away';
import { startStage, watchLease, type Stage } from './spec-stage';

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
  toPostgres = await relayTo(stage.database.dataUrl);
  toRedis = await relayTo(stage.redis.url);
  api = writer({ databaseUrl: toPostgres.url });
  gateway = stage.connect({
    databaseUrl: toPostgres.url,
    redisUrl: toRedis.url,
    postgresAwayMaxMs: 60_000,
  });
  await Promise.all([api.start(), gateway.start()]);
  await trusts(gateway, 'postgres');
});

afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.close()));
  await stage.disconnect();
});

afterAll(async () => {
  raw.disconnect();
  await stage.close();
});

const relays: TcpRelay[] = [];
async function relayTo(url: string): Promise<TcpRelay> {
  const relay = await startTcpRelay(url);
  relays.push(relay);
  return relay;
}

const writer = (options: { databaseUrl?: string; redisUrl?: string } = {}): DefinitionConnection =>
  stage.connect({ writes: true, ...options });
const trusts = ({ follower }: DefinitionConnection, source: string | undefined): Promise<unknown> =>
  waitFor(() => follower.source === source, { timeoutMs: 30_000 });

async function announced(): Promise<string> {
  const id = randomUUID();
  await api.announce(await stage.write(stage.reactor(id)));
  await waitFor(() => stage.find(gateway, id));
  return id;
}

async function refusesCalls({ follower }: DefinitionConnection): Promise<void> {
  await waitFor(() => follower.fresh() === undefined, { timeoutMs: 30_000 });
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

describe('a Redis that stalls', () => {
  it('ends no lease, and changes are in force', async () => {
    const id = await announced();
    const ended = watchLease(gateway);
    toRedis.stall();
    for (let nth = 0; nth < 5; nth += 1) await announced();
    await api.announce(await stage.remove(id));
    await waitFor(() => !stage.find(gateway, id));
    await toRedis.restore();
    await announced();
    expect(ended()).toBe(0);
  });
});

describe('a lease ends', () => {
  it('when Postgres is a standby, and begins anew when it is the primary', async () => {
    await stage.management.query('SELECT 1');
    const admin = connectDatabase({ url: stage.database.adminUrl, app: 'spec', connectionsMax: 1 });
    await admin.query('CREATE SCHEMA IF NOT EXISTS standby');
    await admin.query('GRANT USAGE ON SCHEMA standby TO PUBLIC');
    const answer = (isStandby: boolean) =>
      admin.query(
        `CREATE OR REPLACE FUNCTION standby.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT ${isStandby}'`,
      );
    await answer(false);
    const url = new URL(stage.database.dataUrl);
    url.searchParams.set('options', '-c search_path=standby,pg_catalog,public');
    const moved = stage.connect({ databaseUrl: url.href, postgresAwayMaxMs: 60_000 });
    await moved.start();
    await answer(true);
    await refusesCalls(moved);
    await answer(false);
    await trusts(moved, 'postgres');
    await admin.close();
  });

  it('when the log is that of another epoch, until an operator accepts it: then it is read from its beginning', async () => {
    const id = await announced();
    const owner = connectDatabase({ url: stage.database.adminUrl, app: 'spec', connectionsMax: 1 });
    await owner.query('DELETE FROM definition_log WHERE id = $1', [id]);
    expect(stage.known(gateway, id)).toBeDefined();
    await owner.query('UPDATE definition_head SET epoch = gen_random_uuid()');
    await refusesCalls(gateway);
    const { epoch } = gateway.follower.head ?? {};
    await owner.query('UPDATE definition_head SET epoch = $1', [epoch]);
    await acceptDatabase(owner, { lost: true });
    await waitFor(() => gateway.follower.fresh() && !stage.find(gateway, id));
    await announced();
    await owner.close();
  });

  it('when the head of the log is lower than it was, until an operator accepts it: then what came after it is forgotten', async () => {
    const before = (
      await stage.management.query<{ version: string }>('SELECT version FROM definition_head')
    )[0]?.version;
    const id = await announced();
    const owner = connectDatabase({ url: stage.database.adminUrl, app: 'spec', connectionsMax: 1 });
    await owner.transaction(async (sql) => {
      await sql.query('DELETE FROM definition_log WHERE id = $1', [id]);
      await sql.query('UPDATE definition_head SET version = $1', [before]);
    });
    await refusesCalls(gateway);
    await acceptDatabase(owner, { lost: true });
    await waitFor(() => gateway.follower.head?.version === Number(before));
    expect(stage.known(gateway, id)).toBeUndefined();
    await owner.close();
  });
});

it('one dead connection to Postgres ends no lease: another one is made within it', async () => {
  const toOne = await relayTo(stage.database.dataUrl);
  const follower = stage.connect({ databaseUrl: toOne.url });
  await follower.start();
  const ended = watchLease(follower);
  const since = performance.now();
  toOne.stallOpen();
  await waitFor(() => performance.now() - since > 3_000);
  expect(ended()).toBe(0);
});

it('a call that joined a reading with old news asks once more, and is served', async () => {
  const stalledAt = performance.now();
  toPostgres.stall();
  // Both questions of the reading under way are older than a lease by then.
  await waitFor(() => performance.now() - stalledAt > 2_000);
  expect(gateway.follower.fresh()).toBeUndefined();
  const served = gateway.follower.current();
  await toPostgres.restore();
  expect(await served).toBe(gateway.follower.lastKnown);
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
    await trusts(gateway, 'postgres');
  });

  it('calls end where a change is unknown that a writer made before', async () => {
    const own = await relayTo(stage.database.dataUrl);
    const behind = stage.connect({ databaseUrl: own.url, postgresAwayMaxMs: 60_000 });
    await behind.start();
    const id = await announced();
    await waitFor(() => stage.find(behind, id));
    await own.cut();
    await api.announce(await stage.remove(id));
    await toPostgres.cut();
    await trusts(gateway, 'writers');
    expect(stage.known(gateway, id)).toBeUndefined();
    await refusesCalls(behind);
    await own.restore();
    await stage.current(behind);
    expect(stage.known(behind, id)).toBeUndefined();
  });

  it('an emptied Redis ends the calls: it cannot stand in for Postgres', async () => {
    await announced();
    await toPostgres.cut();
    await trusts(gateway, 'writers');
    await raw.flushall();
    await refusesCalls(gateway);
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
    const ownLine = await relayTo(stage.redis.url);
    const other = writer({ redisUrl: ownLine.url });
    await other.start();
    await waitFor(async () => (await raw.hlen(writersKey)) === 2);
    await ownLine.cut();
    await toPostgres.cut();
    await refusesCalls(gateway);
    // It did reach Postgres, and acknowledged a change that no message tells of.
    await other.announce(await stage.write(stage.reactor(randomUUID())));
    await refusesCalls(gateway);
  });

  it('when Postgres refuses this process alone', async () => {
    const through = await relayTo(stage.database.dataUrl);
    const cutOff = stage.connect({ databaseUrl: through.url, postgresAwayMaxMs: 60_000 });
    await cutOff.start();
    await through.cut();
    await refusesCalls(cutOff);
  });

  it('when a writer was killed: nobody knows what it acknowledged last', async () => {
    await raw.hset(writersKey, randomUUID(), '7');
    await toPostgres.cut();
    await refusesCalls(gateway);
  });

  it('when a writer was stopped meanwhile', async () => {
    const other = writer({ databaseUrl: toPostgres.url });
    await other.start();
    await toPostgres.cut();
    await trusts(gateway, 'writers');
    await other.close();
    await refusesCalls(gateway);
  });

  it('when somebody without a key answers in place of the writers', async () => {
    await toRedis.cut();
    await api.close();
    await raw.hset(writersKey, 'writer', '1');
    const forger = raw.duplicate();
    await forger.subscribe(questionChannel);
    let asked = 0;
    forger.on('message', (_, question: string) => {
      asked += 1;
      const [asker = ''] = question.split(' ');
      const proof = `1:${randomBytes(32).toString('base64')}`;
      void raw.publish(`{glovebox}:definitions:refusals:${asker}`, `writer 0 ${proof}`);
    });
    await toRedis.restore();
    await toPostgres.cut();
    await refusesCalls(gateway);
    await waitFor(() => asked > 1);
    expect(gateway.follower.fresh()).toBeUndefined();
    forger.disconnect();
  });
});

describe('a change of a definition', () => {
  it('is not acknowledged if Postgres is gone before this process has read it', async () => {
    const version = await stage.write(stage.reactor(randomUUID()));
    await toPostgres.cut();
    // The follower may have read it by itself; what comes after the cut cannot arrive.
    await expect(api.announce(version + 1)).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: 1,
    });
  });

  it('is acknowledged without Redis as long as Postgres answers', async () => {
    const lone = writer({ databaseUrl: toPostgres.url, redisUrl: toRedis.url });
    await lone.start();
    await toRedis.cut();
    const version = await stage.write(stage.reactor(randomUUID()));
    await lone.announce(version);
    await toPostgres.cut();
    await expect(lone.announce(version + 1)).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});
