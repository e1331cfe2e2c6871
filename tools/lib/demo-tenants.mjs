import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Trouble } from './progress.mjs';
import { writePrivate } from './secrets.mjs';

/**
 * Returns two tenants with their keys. Those of earlier starts are kept; only what no longer works
 * is made anew. The file also keeps what was replaced: it may belong to another database.
 *
 * @param {string} folder
 * @param {string} baseUrl
 * @param {(name: string) => Promise<import('./types.js').CreatedTenant>} create
 * @returns {Promise<import('./types.js').DemoTenants>}
 */
export async function demoTenants(folder, baseUrl, create) {
  const file = join(folder, 'demo-tenants.json');
  /** @type {Partial<import('./types.js').DemoTenants> & { replaced?: import('./types.js').TenantKeys[] }} */
  const {
    secondTenant,
    replaced = [],
    ...firstTenant
  } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};

  /**
   * @param {string} name
   * @param {Partial<import('./types.js').TenantKeys>} known
   * @returns {Promise<import('./types.js').TenantKeys>}
   */
  const working = async (name, { tenantId, adminKey, privateKey }) => {
    if (!tenantId || !adminKey || !privateKey) return keysOf(await create(name));
    if (!(await keyWorks(baseUrl, adminKey))) {
      const made = keysOf(await create(name));
      replaced.push({ tenantId, adminKey, privateKey });
      console.log(
        `  The management key of the tenant "${name}" (${tenantId}) no longer works: made another tenant, ` +
          `${made.tenantId}. The keys of the former are in ${file}, under "replaced".`,
      );
      return made;
    }
    if (await keyWorks(baseUrl, privateKey)) return { tenantId, adminKey, privateKey };
    console.log(
      `  The private key of the tenant "${name}" (${tenantId}) no longer works: made another one.`,
    );
    return { tenantId, adminKey, privateKey: await privateKeyOf(baseUrl, name, adminKey) };
  };

  const tenants = {
    ...(await working('Demo', firstTenant)),
    secondTenant: await working('Second demo', secondTenant ?? {}),
  };
  writePrivate(file, JSON.stringify({ ...tenants, replaced }, null, 2) + '\n');
  return tenants;
}

/**
 * @param {import('./types.js').CreatedTenant} created
 * @returns {import('./types.js').TenantKeys}
 */
const keysOf = (created) => ({
  tenantId: created.tenant_id,
  adminKey: created.management_key,
  privateKey: created.private_key ?? '',
});

/**
 * @param {string} baseUrl
 * @param {string} key
 */
async function keyWorks(baseUrl, key) {
  const response = await fetch(`${baseUrl}/reactors?size=1`, { headers: { 'SVC-API-KEY': key } });
  await response.arrayBuffer();
  return response.status !== 401;
}

/**
 * The key of a new application with the permissions of the first one.
 *
 * @param {string} baseUrl
 * @param {string} name
 * @param {string} adminKey
 * @returns {Promise<string>}
 */
async function privateKeyOf(baseUrl, name, adminKey) {
  const uses = ['create', 'read', 'use', 'update', 'delete', 'search'];
  const permissions = uses.map((use) => `token:${use}`);
  const response = await fetch(`${baseUrl}/applications`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': adminKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: `${name} demo`, type: 'private', permissions }),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Trouble(`The application was not created:\n${text}`);
  return JSON.parse(text).key;
}
