import { randomUUID } from 'node:crypto';
import { issueManagement } from '../applications/issue-application';
import { change } from '../changes/change';
import type { ManagementContext } from '../context';
import { Tenant } from '../entities/tenant.entity';

interface NewManagementKey {
  readonly tenant_id: string;
  readonly application_id: string;
  /** Shown only here: its hash alone is stored. */
  readonly management_key: string;
}

/** Lets the operator into a tenant that has no key left: with one more management application. */
export async function issueManagementKey(
  ctx: ManagementContext,
  tenantId: string,
): Promise<NewManagementKey> {
  const author = { tenantId, actorId: null, traceId: randomUUID(), claim: undefined };
  return change(ctx, author, 'create', async (manager) => {
    const tenant = await manager.findOneBy(Tenant, { id: tenantId });
    if (!tenant) throw new Error('There is no tenant with this id.');
    const { application, key, definition } = await issueManagement(
      ctx,
      manager,
      author,
      tenant.name,
    );
    return {
      result: { tenant_id: tenantId, application_id: application.id, management_key: key },
      definitions: [definition],
    };
  });
}
