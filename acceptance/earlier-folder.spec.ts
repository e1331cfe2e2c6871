import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Client } from 'pg';
import { startOwnProduct, type OwnProduct } from './own-product';
import { call, create } from './product';

const fixtures = join(__dirname, '../apps/management-api/src/database/__fixtures__');
const { keyRing, demoTenants } = JSON.parse(
  readFileSync(join(fixtures, 'made-at-60233aa.json'), 'utf8'),
) as { keyRing: string; demoTenants: Pick<OwnProduct, 'tenantId' | 'secondTenant'> };
const dump = gunzipSync(readFileSync(join(fixtures, 'made-at-60233aa.sql.gz'))).toString();

let product: OwnProduct;
afterAll(() => product.stop());

/** Puts the data, the key and the tenants of commit 60233aa in place of those of the product. */
async function replaceData({ folder, databaseUrl }: OwnProduct): Promise<void> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const server = new Client({ connectionString: databaseUrl.replace(/[^/]*$/, 'postgres') });
  await server.connect();
  await server.query(`DROP DATABASE "${name}" WITH (FORCE)`);
  await server.query(`CREATE DATABASE "${name}" OWNER glovebox_owner`);
  await server.end();
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  await database.query(dump);
  await database.end();
  writeFileSync(join(folder, 'key-ring'), `${keyRing}\n`);
  writeFileSync(join(folder, 'demo-tenants.json'), JSON.stringify(demoTenants));
}

it('npm start on a folder of commit 60233aa keeps its tokens, tenants, keys and proxies', async () => {
  product = await startOwnProduct();
  await replaceData(product);
  product = await product.startAgain();

  expect(product).toMatchObject(demoTenants);
  const { baseUrl, privateKey, adminKey, secondTenant } = product;
  const read = async (path: string, key = privateKey): Promise<unknown> => {
    const answer = await call('GET', `${baseUrl}${path}`, { key });
    return answer.status === 200 ? answer.body : answer.status;
  };
  expect(await read('/tokens?size=1')).toMatchObject({
    pagination: { total_items: 3 },
  });
  expect(await read('/tokens?metadata.customer=7')).toMatchObject({ data: [{ id: 'card' }] });
  expect(await read('/tokens/other')).toBe(404);
  expect(await read('/tokens/other', secondTenant.privateKey)).toMatchObject({ id: 'other' });
  expect(await read('/proxies', adminKey)).toMatchObject({ data: [{ name: 'echo' }] });
  expect(await read('/reactors', adminKey)).toMatchObject({ data: [{ name: 'add' }] });

  const search = await call('POST', `${baseUrl}/tokens/search`, {
    key: privateKey,
    body: { query: 'data:"6789"' },
  });
  expect(search.body.data).toMatchObject([{ id: 'ssn' }]);
  const proxy = await create(product, '/proxies', {
    name: 'shows',
    destination_url: `${product.demoDestination}/echo`,
  });
  const opened = await call('POST', `${baseUrl}/proxy`, {
    key: privateKey,
    headers: { 'SVC-PROXY-KEY': String(proxy.key) },
    body: { ssn: '{{ ssn }}', given: '{{ name | json: "$.given" }}' },
  });
  expect(opened.body.body).toEqual({ ssn: '123-45-6789', given: 'Ada' });
});
