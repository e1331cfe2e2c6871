import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Trouble } from './progress.mjs';
import { writePrivate } from './secrets.mjs';

/**
 * Returns two tenants with their keys. Those of earlier starts are kept; only what no longer works
 * is made anew. The file also keeps tenants that are not in this database: they may be in another.
 *
 * @param {string} folder
 * @param {string} baseUrl
 * @param {{
 *   createTenant: (name: string) => Promise<import('./types.js').CreatedTenant>,
 *   createManagementKey: (tenantId: string) => Promise<import('./types.js').CreatedManagementKey>,
 * }} operator
 * @returns {Promise<import('./types.js').DemoTenants>}
 */
export async function demoTenants(folder, baseUrl, { createTenant, createManagementKey }) {
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
    if (!tenantId || !adminKey || !privateKey) return keysOf(await createTenant(name));
    const isManaged = await keyWorks(baseUrl, adminKey);
    // Without the tenant there is no key for it.
    const managing = isManaged
      ? adminKey
      : await createManagementKey(tenantId).then(
          (made) => made.management_key,
          () => undefined,
        );
    if (!managing) {
      const made = keysOf(await createTenant(name));
      replaced.push({ tenantId, adminKey, privateKey });
      console.log(
        `  The tenant "${name}" (${tenantId}) is gone: made another one, ${made.tenantId}. ` +
          `The keys of the former are in ${file}, under "replaced".`,
      );
      return made;
    }
    const say = (/** @type {string} */ kind) =>
      console.log(
        `  The ${kind} key of the tenant "${name}" (${tenantId}) no longer works: made another one.`,
      );
    if (!isManaged) say('management');
    if (await keyWorks(baseUrl, privateKey)) return { tenantId, adminKey: managing, privateKey };
    say('private');
    return {
      tenantId,
      adminKey: managing,
      privateKey: await privateKeyOf(baseUrl, name, managing),
    };
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
