import { applicationDeleted } from '@glovebox/access';
import { record } from '@glovebox/database';
import { appendTenantDeletion } from '@glovebox/definitions';
import { invalid } from '@glovebox/problems';
import type { Author } from '../changes/change';
import { requireVersion } from '../changes/change-row';
import type { ManagementContext } from '../context';
import { asSql, inTenant } from '../database/in-tenant';

/** Children come before their parents. Deleting applications and people cascades to their keys. */
const tables = ['reactors', 'reactor_formulas', 'proxies', 'applications', 'people'] as const;

/**
 * Deletes a tenant at once, if the caller names it: its resources, its definitions in the data
 * plane, and the keys that its data is sealed with. Sealed data becomes unreadable, and workers
 * delete it later. The transaction grows with the definitions, which every process holds in memory
 * anyway, and not with the vault.
 *
 * - Nothing of the tenant is written meanwhile. The row lock comes first, and `change()` takes a
 *   share of it first. Changes under way are waited for; later ones find no tenant.
 * - No statement can touch another tenant. Row-level security protects the rows and data keys, and
 *   the update policy protects the log, from which the role cannot delete.
 * - The head of the log is locked last, for about 20 µs per definition: 2 s for 100,000. Changes of
 *   all tenants wait for it, so several 100,000 would make the changes of others time out with a
 *   503. Reading the log never waits.
 */
export async function deleteTenant(
  ctx: ManagementContext,
  author: Author,
  named: readonly string[],
): Promise<void> {
  const { tenantId } = author;
  const version = await inTenant(ctx.dataSource, tenantId, async (manager) => {
    const sql = asSql(manager);
    const [tenant] = await sql.query<{ name: string }>(
      `SELECT name FROM tenants WHERE id = $1 FOR UPDATE`,
      [tenantId],
    );
    if (!tenant) throw applicationDeleted();
    await requireVersion(sql, author, 'delete', { kind: 'tenant', id: tenantId });
    if (named.length === 0 || named.some((name) => name !== tenant.name)) {
      throw invalid({ name: ['must be the name of the tenant, in the body or as ?name='] });
    }
    await record(sql, {
      ...author,
      operation: 'tenant.delete',
      entityType: 'tenant',
      entityId: tenantId,
      outcome: 'success',
    });
    await sql.query(
      `DELETE FROM idempotency_keys
       WHERE application_id IN (SELECT id FROM applications WHERE tenant_id = $1
         UNION ALL SELECT id FROM people WHERE tenant_id = $1)`,
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
