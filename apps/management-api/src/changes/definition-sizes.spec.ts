import { randomBytes } from 'node:crypto';
import { connectDatabase } from '@glovebox/database';
import { resealDefinitions } from '@glovebox/definitions';
import { parseKeyRing } from '@glovebox/seal';
import { createTenant, type NewTenant } from '../tenants/create-tenant';
import { useTestApi } from '../spec-api';

const definitionsMax = 12;
/** A new tenant has three definitions: itself and two applications. */
const begun = 3;
const bytesMax = 150_000;

const api = useTestApi({
  DEFINITIONS_PER_TENANT: String(definitionsMax),
  DEFINITION_BYTES_PER_TENANT: String(bytesMax),
});

const proxy = (configuration: Record<string, string> = {}) => ({
  name: 'p',
  destination_url: 'https://example.com',
  configuration,
});
const newTenant = (): Promise<NewTenant> => createTenant(api.ctx, { name: 'New', demo: true });
const idOf = ({ body }: { body: unknown }): string => (body as { id: string }).id;

/** Returns the counted and the actual sizes. */
async function sizesOf(tenantId: string): Promise<[unknown, unknown]> {
  const [counted] = await api.admin.query(
    `SELECT definitions::int, bytes::int FROM definition_sizes WHERE tenant_id = $1`,
    [tenantId],
  );
  const [real] = await api.admin.query<{ definitions: number }>(
    `SELECT count(*)::int AS definitions, sum(octet_length(payload))::int AS bytes
     FROM definition_log WHERE tenant_id = $1 AND payload IS NOT NULL`,
    [tenantId],
  );
  return [counted, real?.definitions === 0 ? undefined : real];
}

it('the definitions of a tenant are counted exactly, whatever writes them', async () => {
  const { tenant_id: id, management_key: key } = await newTenant();
  const isExact = async (): Promise<void> => {
    const [counted, real] = await sizesOf(id);
    expect(counted).toEqual(real);
  };
  await isExact();
  const made = await Promise.all(
    Array.from({ length: 8 }, (_, at) => api.post('/proxies', proxy({ a: 'x'.repeat(at) }), key)),
  );
  await isExact();
  const paths = made.map((one) => `/proxies/${idOf(one)}`);
  await Promise.all([
    ...paths.slice(0, 4).map((path) => api.delete(path, key)),
    ...paths.slice(4).map((path) => api.patch(path, { configuration: { b: 'longer' } }, key)),
    api.post('/reactor-formulas', { name: 'f', code: 'module.exports = () => 1' }, key),
  ]);
  await isExact();
  expect((await sizesOf(id))[0]).toMatchObject({ definitions: begun + 5 });
});

it('the definitions of a deleted tenant are no longer counted', async () => {
  const { tenant_id: id, management_key: key } = await newTenant();
  expect((await api.delete('/tenants/self?name=New', key)).status).toBe(204);
  expect(await sizesOf(id)).toEqual([undefined, undefined]);
});

it('a tenant cannot exceed its number of definitions, even by concurrent creates', async () => {
  const { tenant_id: id, management_key: key } = await newTenant();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => api.post('/proxies', proxy(), key)),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  expect(answers.length - refused.length).toBe(definitionsMax - begun);
  for (const { body } of refused) {
    expect(body).toMatchObject({
      status: 409,
      code: 'conflict',
      detail: 'A tenant may have at most 12 definitions.',
    });
  }
  expect((await sizesOf(id))[0]).toMatchObject({ definitions: definitionsMax });

  const one = answers.find(({ status }) => status === 201);
  const path = `/proxies/${one ? idOf(one) : ''}`;
  expect((await api.patch(path, { name: 'changed' }, key)).status).toBe(204);
  expect((await api.delete(path, key)).status).toBe(204);
  expect((await api.post('/proxies', proxy(), key)).status).toBe(201);
  expect((await api.post('/proxies', proxy())).status).toBe(201);
});

it('the definitions of a tenant cannot exceed their bytes, and can always be reduced', async () => {
  const { tenant_id: id, management_key: key } = await newTenant();
  const large = proxy({ a: 'x'.repeat(60_000) });
  const first = await api.post('/proxies', large, key);
  const second = await api.post('/proxies', large, key);
  expect([first.status, second.status]).toEqual([201, 201]);
  const detail = 'The definitions of a tenant may take at most 150000 bytes.';
  const refused = { status: 409, body: { code: 'conflict', detail } };
  expect(await api.post('/proxies', large, key)).toMatchObject(refused);
  const small = await api.post('/proxies', proxy(), key);
  const path = `/proxies/${idOf(small)}`;
  expect(await api.patch(path, { configuration: large.configuration }, key)).toMatchObject(refused);
  expect(await api.put(path, large, key)).toMatchObject(refused);

  // Simulates a limit that was lowered.
  await api.admin.query(
    `UPDATE definition_log SET payload = payload || decode(repeat('00', 100000), 'hex')
     WHERE kind = 'proxy' AND id = $1`,
    [idOf(second)],
  );
  const shorter = { configuration: { a: 'x'.repeat(59_000) } };
  expect((await api.patch(`/proxies/${idOf(first)}`, shorter, key)).status).toBe(204);
  expect(await api.post('/proxies', proxy(), key)).toMatchObject(refused);
  expect((await api.delete(`/proxies/${idOf(second)}`, key)).status).toBe(204);
  expect((await api.post('/proxies', proxy(), key)).status).toBe(201);
  const [counted, real] = await sizesOf(id);
  expect(counted).toEqual(real);
});

it('an application cannot have more than 100 keys', async () => {
  const { management_key: key } = await newTenant();
  const application = { name: 'a', type: 'private', permissions: ['token:use'] };
  const keys = `/applications/${idOf(await api.post('/applications', application, key))}/keys`;
  // The application came with one key, so one more is possible.
  await api.admin.query(
    `INSERT INTO application_keys (id, tenant_id, application_id, key_hash, created_at)
     SELECT gen_random_uuid(), tenant_id, application_id, 'hash ' || n, created_at
     FROM application_keys, generate_series(1, 98) n WHERE application_id = $1`,
    [keys.split('/')[2]],
  );
  expect((await api.post(keys, {}, key)).status).toBe(201);
  expect(await api.post(keys, {}, key)).toMatchObject({ status: 409, body: { code: 'conflict' } });
});

// Must be last, because this API does not know the other key.
it('definitions resealed by another master key are counted correctly', async () => {
  const { tenant_id: id } = await newTenant();
  const [before] = await sizesOf(id);
  const keyRing = api.ctx.config.KEY_RING.reveal();
  await api.admin.query(`SELECT raise_sealing_version(2)`);
  const rotation = connectDatabase({
    url: api.database.rotationUrl,
    app: 'spec',
    connectionsMax: 1,
  });
  const ring = parseKeyRing(`${keyRing},2:${randomBytes(32).toString('base64')}`);
  expect((await resealDefinitions(rotation, ring)).resealed).toBeGreaterThan(begun);
  await rotation.close();
  const [counted, real] = await sizesOf(id);
  expect(counted).toEqual(real);
  expect(counted).toEqual(before);
});
