import { randomBytes } from 'node:crypto';
import { connectDatabase } from '@glovebox/database';
import { connectDefinitions, type DefinitionConnection } from '@glovebox/definitions';
import { parseKeyRing } from '@glovebox/seal';
import { Secret, type Finding } from '@glovebox/service-host';
import { startRedis, useTestDatabase, waitFor, type PrivateRedis } from '@glovebox/testing';
import { checkStores } from './doctor/store-checks';
import { liveProcesses, tellOfProcess } from './live-processes';

const testDatabase = useTestDatabase();
const ring = `1:${randomBytes(32).toString('base64')}`;
/** Less than the time between two words. */
const soon = { timeoutMs: 1_500 };

let redis: PrivateRedis;
let definitions: DefinitionConnection;
let telling: ReturnType<typeof tellOfProcess>;

beforeAll(async () => {
  redis = await startRedis();
  const place = { REDIS_URL: new Secret(redis.url) };
  const databaseUrl = testDatabase.dataUrl;
  const stores = { databaseUrl, redis: place, ring: parseKeyRing(ring) };
  definitions = connectDefinitions({ app: 'gateway', ...stores, onFault: () => undefined });
  telling = tellOfProcess(definitions, { app: 'gateway', connections: 1 }, () => []);
});
afterAll(async () => {
  await telling.stop();
  await definitions.close();
  await redis.stop();
});

const told = () => liveProcesses(definitions.redis).catch(() => []);
/** What the doctor of a gateway finds out about definitions. */
async function findDefinitions(): Promise<Finding | undefined> {
  const { checks, close } = checkStores('gateway', {
    REDIS_URL: new Secret(redis.url),
    DATABASE_URL: new Secret(testDatabase.dataUrl),
    KEY_RING: new Secret(ring),
  });
  try {
    return await checks.find(({ name }) => name === 'definitions')?.run(AbortSignal.timeout(5_000));
  } finally {
    await close();
  }
}

it('a process tells of itself as soon as it is connected, at its start and after Redis was away', async () => {
  expect(definitions.redis.status).not.toBe('ready');
  await waitFor(async () => (await told()).length === 1, soon);
  await redis.kill();
  await waitFor(() => definitions.redis.status !== 'ready');
  redis = await startRedis({ port: redis.port });
  await waitFor(async () => (await told()).length === 1, soon);
});

it('the doctor says that processes wait for after-restore, and not that they are late', async () => {
  await definitions.start();
  await waitFor(async () => (await findDefinitions())?.condition === 'ok');
  const admin = testDatabase.closing(
    connectDatabase({ url: testDatabase.adminUrl, app: 'spec', connectionsMax: 1 }),
  );
  await admin.query(`UPDATE definition_head SET place = '1/2'`);
  await waitFor(() => definitions.follower.loading !== undefined);
  await waitFor(async () => (await findDefinitions())?.condition === 'fault');
  expect(await findDefinitions()).toMatchObject({
    says: expect.stringMatching(/restored: gateway .* wait for after-restore/) as string,
    remedy: expect.stringContaining('after-restore --status') as string,
  });
});
