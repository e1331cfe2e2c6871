import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { useTestApi, useTestStores } from '../spec-api';
import { createTenant } from './create-tenant';
import { issueManagementKey } from './issue-management-key';

const api = useTestApi();
const other = useTestStores();

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

it('the operator gets into a tenant whose last key is lost, by one more application', async () => {
  const { tenant_id: id, management_key: lost } = await createTenant(api.ctx, {
    name: 'Locked',
    demo: false,
  });
  await api.admin.query('DELETE FROM application_keys WHERE tenant_id = $1', [id]);
  const made = await issueManagementKey(api.ctx, id);
  expect(made).toEqual({
    tenant_id: id,
    application_id: expect.any(String) as string,
    management_key: expect.stringMatching(/^key_/) as string,
  });
  expect(made.management_key).not.toBe(lost);
  const own = await api.get('/applications/key', made.management_key);
  expect(own.body).toMatchObject({ id: made.application_id, tenant_id: id, type: 'management' });
  const input = { name: 'A', type: 'management', permissions: ['application:create'] };
  await api.made('/applications', input, made.management_key);
  await expect(issueManagementKey(api.ctx, randomUUID())).rejects.toThrow('no tenant');
});

it('the commands that create a tenant and a key print one line of JSON each', async () => {
  const keyRing = `1:${randomBytes(32).toString('base64')}`;
  const text = expect.any(String) as string;
  const command = async (name: string, ...args: string[]): Promise<unknown> => {
    const main = `${__dirname}/../../../../dist/apps/management-api/${name}.main.js`;
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], {
      env: {
        DATABASE_URL: other.database.managementUrl,
        REDIS_URL: other.redis.url,
        KEY_RING: keyRing,
      },
    });
    expect(stdout.trim().split('\n')).toHaveLength(1);
    return JSON.parse(stdout);
  };
  const tenant = await command('tenant-create', '--name', 'Shop', '--demo');
  expect(tenant).toEqual({
    tenant_id: text,
    name: 'Shop',
    management_key: expect.stringMatching(/^key_/) as string,
    private_key: expect.stringMatching(/^key_/) as string,
  });
  const { tenant_id: id } = tenant as { tenant_id: string };
  expect(await command('tenant-key', '--tenant', id.toUpperCase())).toEqual({
    tenant_id: id,
    application_id: text,
    management_key: expect.stringMatching(/^key_/) as string,
  });
  await expect(command('tenant-key', '--tenant', 'Shop')).rejects.toThrow('usage: --tenant ID');
});
