import { record } from '@glovebox/database';
import { appendTenantDeletion } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import type { Author } from '../changes/change';
import type { ManagementContext } from '../context';
import { asSql, inTenant } from '../database/in-tenant';

/** Children before what they refer to; the keys of applications go with these. */
const tables = ['reactors', 'reactor_formulas', 'proxies', 'applications'] as const;

/**
 * All of a tenant at once: its resources, what the data plane knows of them, and the keys that its
 * data is sealed with. Sealed rows stay behind as noise, which the housekeeping of the workers deletes.
 * The transaction therefore does not grow with the vault. It grows with the definitions alone, which
 * every process holds in memory anyway.
 *
 * - Nothing of the tenant is written meanwhile: the row lock comes first, and each change takes a
 *   share of it first (`change()`). Changes under way are waited for, later ones find no tenant.
 * - Only this tenant is touched, however the statements read: the rows and data keys by row-level
 *   security, the log by the policy of its updates, which the role cannot delete from.
 * - The head of the log, which changes of all tenants wait for, is taken last and for about 20 µs a
 *   definition: 2 s of 100,000, nothing worth mentioning of a few hundred. Several 100,000 would let the
 *   changes of others run into their time-out, a 503. Reading the log never waits.
 */
export async function deleteTenant(ctx: ManagementContext, author: Author): Promise<void> {
  const { tenantId } = author;
  const version = await inTenant(ctx.dataSource, tenantId, async (manager) => {
    const sql = asSql(manager);
    const [tenant] = await sql.query(`SELECT 1 FROM tenants WHERE id = $1 FOR UPDATE`, [tenantId]);
    if (!tenant) throw new Problem('invalid_api_key');
    await record(sql, {
      ...author,
      operation: 'tenant.delete',
      entityType: 'tenant',
      entityId: tenantId,
      outcome: 'success',
    });
    await sql.query(
      `DELETE FROM idempotency_keys
       WHERE application_id IN (SELECT id FROM applications WHERE tenant_id = $1)`,
      [tenantId],
    );
    for (const table of tables) {
      await sql.query(`DELETE FROM ${table} WHERE tenant_id = $1`, [tenantId]);
    }
    await sql.query(`DELETE FROM tenants WHERE id = $1`, [tenantId]);
    await sql.query(`DELETE FROM data_keys WHERE tenant_id = $1`, [tenantId]);
    return appendTenantDeletion(sql, tenantId);
  });
  await ctx.definitions.announce(version);
}
