import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivate } from './secrets.mjs';

/** Two tenants with a management and a private key each; kept as long as the database knows them. */
export async function demoTenants(folder, baseUrl, create) {
  const file = join(folder, 'demo-tenants.json');
  if (existsSync(file)) {
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

const keysOf = (created) => ({
  tenantId: created.tenant_id,
  adminKey: created.management_key,
  privateKey: created.private_key,
});

async function keyWorks(baseUrl, key) {
  const response = await fetch(`${baseUrl}/reactors?size=1`, { headers: { 'SVC-API-KEY': key } });
  await response.arrayBuffer();
  return response.status !== 401;
}
