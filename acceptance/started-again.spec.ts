import { readFileSync } from 'node:fs';
import { startOwnProduct, type OwnProduct } from './own-product';
import { call, create } from './product';

// A start takes 3 s, and many times as long on a busy machine.
jest.setTimeout(110_000);

let product: OwnProduct;

beforeAll(async () => {
  product = await startOwnProduct();
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

it('a second start makes only those demo keys anew that stopped working, and saved proxies go on', async () => {
  const before = product;
  const proxy = await create(before, '/proxies', {
    name: 'saved',
    destination_url: `${before.demoDestination}/echo`,
  });
  await regenerate(before.adminKey, 'private');
  await regenerate(before.secondTenant.adminKey, 'management');

  const after = await before.startAgain();
  product = after;

  expect(after).toMatchObject({ tenantId: before.tenantId, adminKey: before.adminKey });
  expect(after.privateKey).not.toBe(before.privateKey);
  expect(after.secondTenant.tenantId).not.toBe(before.secondTenant.tenantId);
  expect(after.said).toContain(
    `The private key of the tenant "Demo" (${before.tenantId}) no longer works: made another one.`,
  );
  expect(after.said).toContain(
    `The management key of the tenant "Second demo" (${before.secondTenant.tenantId}) no longer works: ` +
      `made another tenant, ${after.secondTenant.tenantId}.`,
  );
  const [, file = ''] = /are in (\S+), under "replaced"/.exec(after.said) ?? [];
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    replaced: [before.secondTenant],
  });
  const answer = await call('POST', `${after.baseUrl}/proxy`, {
    key: after.privateKey,
    headers: { 'SVC-PROXY-KEY': String(proxy.key) },
    body: { a: 1 },
  });
  expect([answer.status, answer.body.body]).toEqual([200, { a: 1 }]);
});
