import { readFileSync } from 'node:fs';
import { startOwnProduct, type OwnProduct } from './own-product';
import { call, create } from './product';

let product: OwnProduct;

beforeAll(async () => {
  product = await startOwnProduct({ EGRESS_ALLOW: '' });
});
afterAll(() => product.stop());

/** Replaces the key of the tenant's application of this type, so that the one that is known fails. */
async function regenerate(adminKey: string, type: string): Promise<void> {
  const { body } = await call('GET', `${product.baseUrl}/applications`, { key: adminKey });
  const applications = body.data as readonly { readonly id: string; readonly type: string }[];
  const id = applications.find((application) => application.type === type)?.id;
  const url = `${product.baseUrl}/applications/${id}/regenerate`;
  expect((await call('POST', url, { key: adminKey })).status).toBe(200);
}

it('plain http to a name that no call could use is refused when it is written', async () => {
  const { baseUrl, adminKey: key } = product;
  const body = { name: 'plain', destination_url: 'http://shop.example/charges' };
  const refused = await call('POST', `${baseUrl}/proxies`, { key, body });
  expect([refused.status, refused.body.errors]).toEqual([
    400,
    { destination_url: ['must be an https URL'] },
  ]);
});

it('a second start makes only those demo keys and tenants anew that stopped working, and saved proxies go on', async () => {
  const first = product;
  const proxy = await create(first, '/proxies', {
    name: 'saved',
    destination_url: `${first.demoDestination}/echo`,
  });
  await regenerate(first.adminKey, 'private');
  await regenerate(first.secondTenant.adminKey, 'management');

  const second = await first.startAgain();
  product = second;

  expect(second).toMatchObject({ tenantId: first.tenantId, adminKey: first.adminKey });
  expect(second.privateKey).not.toBe(first.privateKey);
  expect(second.secondTenant).toMatchObject({
    tenantId: first.secondTenant.tenantId,
    privateKey: first.secondTenant.privateKey,
  });
  const { adminKey: again } = second.secondTenant;
  const read = await call('GET', `${second.baseUrl}/tenants/self`, { key: again });
  expect([read.status, read.body.id]).toEqual([200, first.secondTenant.tenantId]);
  expect(second.said).toContain(
    `The private key of the tenant "Demo" (${first.tenantId}) no longer works: made another one.`,
  );
  expect(second.said).toContain(
    `The management key of the tenant "Second demo" (${first.secondTenant.tenantId}) no longer works: made another one.`,
  );
  const answer = await call('POST', `${second.baseUrl}/proxy`, {
    key: second.privateKey,
    headers: { 'SVC-PROXY-KEY': String(proxy.key) },
    body: { a: 1 },
  });
  expect([answer.status, answer.body.body]).toEqual([200, { a: 1 }]);

  const name = encodeURIComponent(String(read.body.name));
  const url = `${second.baseUrl}/tenants/self?name=${name}`;
  expect((await call('DELETE', url, { key: again })).status).toBe(204);
  const third = await second.startAgain();
  product = third;

  expect(third).toMatchObject({ tenantId: second.tenantId, privateKey: second.privateKey });
  expect(third.said).toContain(
    `The tenant "Second demo" (${first.secondTenant.tenantId}) is gone: made another one, ${third.secondTenant.tenantId}.`,
  );
  const [, file = ''] = /are in (\S+), under "replaced"/.exec(third.said) ?? [];
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    replaced: [second.secondTenant],
  });
});
