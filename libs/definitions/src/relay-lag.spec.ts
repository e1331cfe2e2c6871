import { randomUUID } from 'node:crypto';
import { startTcpRelay, waitFor } from '@glovebox/testing';
import { startStage, type Stage } from './spec-stage';

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());

it('a relay tells how many versions Redis lacks and since when, also while a store is away', async () => {
  const [toRedis, toPostgres] = [
    await startTcpRelay(stage.redis.url),
    await startTcpRelay(stage.database.dataUrl),
  ];
  const connection = stage.connect({
    relays: true,
    redisUrl: toRedis.url,
    databaseUrl: toPostgres.url,
  });
  const { relay } = connection;
  await connection.start();
  await stage.write(stage.reactor(randomUUID()));
  await waitFor(async () => {
    const { versions, seconds } = await relay.lag();
    return versions === 0 && seconds < 0.5;
  });

  await toRedis.close();
  for (let nth = 0; nth < 3; nth += 1) await stage.write(stage.reactor(randomUUID()));
  expect(await relay.lag()).toMatchObject({ versions: 3 });
  await waitFor(async () => (await relay.lag()).seconds > 0.6);

  // Nobody knows what is written now.
  await toPostgres.close();
  await stage.write(stage.reactor(randomUUID()));
  expect((await relay.lag()).seconds).toBeGreaterThan(0.6);
  await connection.close();
});
