import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivate } from './secrets.mjs';

/**
 * Returns two tenants with their keys, and creates them where the database does not know them.
 *
 * @param {string} folder
 * @param {string} baseUrl
 * @param {(name: string) => Promise<import('./types.js').CreatedTenant>} create
 * @returns {Promise<import('./types.js').DemoTenants>}
 */
export async function demoTenants(folder, baseUrl, create) {
  const file = join(folder, 'demo-tenants.json');
  if (existsSync(file)) {
    /** @type {import('./types.js').DemoTenants} */
    const known = JSON.parse(readFileSync(file, 'utf8'));
    const works = await Promise.all(
      [known, known.secondTenant].map((t) => keyWorks(baseUrl, t.adminKey)),
    );
    if (works.every(Boolean)) return known;
  }
  const tenants = {
    ...keysOf(await create('Demo')),
    secondTenant: keysOf(await create('Second demo')),
  };
  writePrivate(file, JSON.stringify(tenants, null, 2) + '\n');
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
