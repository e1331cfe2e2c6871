import Redis from 'ioredis';
import { Client } from 'pg';
import { freePort } from './free-port';
import { startRedis, testRedisUrl } from './redis';
import { createTestDatabase } from './test-database';

async function currentUser(url: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query('SELECT current_user AS role, current_database() AS name')).rows[0];
  } finally {
    await client.end();
  }
}

describe('a test database', () => {
  it('is private, migrated, and open to the four roles', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    try {
      expect(one.name).not.toBe(two.name);
      expect(await currentUser(one.ownerUrl)).toEqual({ role: 'glovebox_owner', name: one.name });
      expect(await currentUser(one.managementUrl)).toMatchObject({ role: 'glovebox_management' });
      expect(await currentUser(two.rotationUrl)).toMatchObject({ role: 'glovebox_rotation' });
      expect(await currentUser(two.dataUrl)).toEqual({ role: 'glovebox_data', name: two.name });
    } finally {
      await Promise.all([one.drop(), two.drop()]);
    }
    await expect(currentUser(one.ownerUrl)).rejects.toThrow('does not exist');
  });
});

describe('redis', () => {
  it('is shared by the suites of a run, and never evicts', async () => {
    const client = new Redis(testRedisUrl());
    expect(await client.config('GET', 'maxmemory-policy')).toEqual([
      'maxmemory-policy',
      'noeviction',
    ]);
    await client.quit();
  });

  it('can be private, and comes back empty on its port after it was killed', async () => {
    const port = await freePort();
    const first = await startRedis({ port });
    const client = new Redis(first.url);
    client.on('error', () => undefined);
    await client.set('key', 'value');
    client.disconnect();
    await first.kill();
    const second = await startRedis({ port });
    const again = new Redis(second.url);
    expect(await again.get('key')).toBeNull();
    again.disconnect();
    await second.stop();
  });
});
