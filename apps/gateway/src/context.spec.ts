import { randomBytes } from 'node:crypto';
import { useStores, waitFor } from '@glovebox/testing';
import { loadGatewayConfig } from './config';
import { createGatewayContext } from './context';

const stores = useStores();

const create = (environment: Record<string, string> = {}) =>
  createGatewayContext(
    loadGatewayConfig({
      DATABASE_URL: stores.urls().dataUrl,
      REDIS_URL: stores.urls().redisUrl,
      KEY_RING: `1:${randomBytes(32).toString('base64')}`,
      MANAGEMENT_URL: 'http://127.0.0.1:1',
      HEADER_PREFIXES: 'SVC',
      RUNNER_URLS: 'unix:/nonexistent/runner.sock',
      RUNNER_SECRET: 'secret',
      LOG_LEVEL: 'silent',
      ...environment,
    }),
    { stopping: new AbortController().signal },
  );

it('a gateway that cannot start, without the master key or with a wrong setting, leaves no connection open', async () => {
  const first = await create();
  expect(await stores.openConnections()).toBeGreaterThan(0);
  await first.close();
  await waitFor(async () => (await stores.openConnections()) === 0);
  const otherRing = `2:${randomBytes(32).toString('base64')}`;
  await expect(create({ KEY_RING: otherRing })).rejects.toThrow('no master key of version 1');
  await expect(create({ KEY_RING: 'wrong' })).rejects.toThrow('a key ring reads');
  await expect(create({ EGRESS_ALLOW: 'wrong' })).rejects.toThrow();
  await waitFor(async () => (await stores.openConnections()) === 0);
});
