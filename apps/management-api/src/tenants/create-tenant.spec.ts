import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { createTestDatabase, startRedis } from '@glovebox/testing';
import { useTestApi } from '../spec-api';
import { createTenant } from './create-tenant';

const api = useTestApi();

it('a new tenant has one application, which holds every management permission', async () => {
  const made = await createTenant(api.ctx, { name: 'Plain', demo: false });
  expect(Object.keys(made)).toEqual(['tenant_id', 'name', 'management_key']);
  const formula = { name: 'F', code: 'module.exports = () => ({})' };
  const created = await api.post('/reactor-formulas', formula, made.management_key);
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({ tenant_id: made.tenant_id });
  expect((await api.post('/tokens', { data: 1 }, made.management_key)).status).toBe(403);
});

it('the data plane gets a webhook secret that receivers can decode', async () => {
  const definitions = await api.ctx.definitions.follower.current();
  const tenant = definitions.find('tenant', api.tenant.tenant_id, api.tenant.tenant_id);
  const [secret] = tenant?.webhookSecrets ?? [];
  expect(secret).toEqual({ secret: expect.stringMatching(/^whsec_/) as string, until: null });
  expect(Buffer.from(secret?.secret.slice(6) ?? '', 'base64')).toHaveLength(32);
});

it('the command that creates a tenant prints one line of JSON', async () => {
  const main = `${__dirname}/../../../../dist/apps/management-api/tenant-create.main.js`;
  const keyRing = `1:${randomBytes(32).toString('base64')}`;
  const other = await createTestDatabase();
  const otherRedis = await startRedis();
  try {
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [main, '--name', 'Shop', '--demo'], {
      env: { DATABASE_URL: other.managementUrl, REDIS_URL: otherRedis.url, KEY_RING: keyRing },
    });
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toEqual({
      tenant_id: expect.any(String) as string,
      name: 'Shop',
      management_key: expect.stringMatching(/^key_/) as string,
      private_key: expect.stringMatching(/^key_/) as string,
    });
  } finally {
    await otherRedis.stop();
    await other.drop();
  }
});
