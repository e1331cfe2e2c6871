import { connectDatabase } from '@glovebox/database';
import { startRedis, startTcpRelay, useTestDatabase, type PrivateRedis } from '@glovebox/testing';
import { Secret, type Finding } from '@glovebox/service-host';
import { checkStores } from './store-checks';

const database = useTestDatabase();
let redis: PrivateRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
afterEach(() => jest.restoreAllMocks());

async function find(name: string, databaseUrl = database.dataUrl): Promise<Finding | undefined> {
  const { checks, close } = checkStores('spec', {
    DATABASE_URL: new Secret(databaseUrl),
    REDIS_URL: new Secret(redis.url),
    KEY_RING: new Secret(`1:${Buffer.alloc(32).toString('base64')}`),
  });
  try {
    return await checks.find((check) => check.name === name)?.run(AbortSignal.timeout(5_000));
  } finally {
    await close();
  }
}

describe.each(['clock of Postgres', 'clock of Redis'])('the %s', (name) => {
  it.each([
    [0, 'ok'],
    [5_000, 'warning'],
    [-5_000, 'warning'],
    [60_000, 'fault'],
  ])('%s ms away from that of this machine is: %s', async (apartMs, condition) => {
    const { now } = Date;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + apartMs);
    expect(await find(name)).toMatchObject({ condition });
  });
});

it('a database in which nothing is sealed stays as it was', async () => {
  expect(await find('key ring')).toMatchObject({ condition: 'ok', says: 'nothing is sealed yet' });
});

it('a schema that lacks a migration of this release is a fault, and the finding names it', async () => {
  expect(await find('schema')).toMatchObject({ condition: 'ok' });
  const owner = connectDatabase({ url: database.ownerUrl, app: 'spec', connectionsMax: 1 });
  try {
    await owner.query(`DELETE FROM done_migrations WHERE name LIKE 'AddAllowedOrigins%'`);
    expect(await find('schema')).toMatchObject({
      condition: 'fault',
      says: expect.stringMatching(/^behind: AddAllowedOrigins\d+ is missing$/) as string,
    });
  } finally {
    await owner.close();
  }
});

it('a Postgres that hangs gives no answer in time', async () => {
  const relay = await startTcpRelay(database.dataUrl);
  relay.stall();
  try {
    expect(await find('Postgres', relay.through(database.dataUrl))).toMatchObject({
      condition: 'fault',
      says: expect.stringContaining('no answer in time') as string,
    });
  } finally {
    await relay.close();
  }
});
