import { randomBytes } from 'node:crypto';
import { useStores, waitFor } from '@glovebox/testing';
import { loadManagementConfig } from './config';
import { createManagementContext } from './context';

const stores = useStores();

const create = (environment: Record<string, string> = {}) =>
  createManagementContext(
    loadManagementConfig({
      DATABASE_URL: stores.urls().managementUrl,
      REDIS_URL: stores.urls().redisUrl,
      KEY_RING: `1:${randomBytes(32).toString('base64')}`,
      LOG_LEVEL: 'silent',
      ...environment,
    }),
  );

it('a management API that fails to start, for its master key or a setting, leaves no connection open', async () => {
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
