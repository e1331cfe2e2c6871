import { randomUUID } from 'node:crypto';
import type { Permission } from '@glovebox/access';
import { issueApplication, issueManagement } from '../applications/issue-application';
import { change } from '../changes/change';
import type { ManagementContext } from '../context';
import { Tenant } from '../entities/tenant.entity';
import { newWebhookSecret, sealWebhookSecrets } from './webhook-secrets';
import { toTenantDefinition } from './tenant-definition';

export interface NewTenant {
  readonly tenant_id: string;
  readonly name: string;
  /** Shown only here: its hash alone is stored. */
  readonly management_key: string;
  readonly private_key?: string;
}

const demoPermissions: Permission[] = [
  'token:create',
  'token:read',
  'token:use',
  'token:update',
  'token:delete',
  'token:search',
];

/** Creates a tenant and the application that manages it; for a demo, also one that uses it. */
export async function createTenant(
  ctx: ManagementContext,
  options: { name: string; demo: boolean },
): Promise<NewTenant> {
  const id = randomUUID();
  const author = { tenantId: id, actorId: null, traceId: randomUUID(), claim: undefined };
  const webhookSecrets = [newWebhookSecret()];
  const sealedSecrets = await sealWebhookSecrets(ctx.sealer, id, webhookSecrets);
  const definition = toTenantDefinition({ id, settings: {} }, webhookSecrets);

  return change(ctx, author, 'create', async (manager) => {
    await manager.insert(Tenant, {
      id,
      name: options.name,
      settings: {},
      webhookSecrets: sealedSecrets,
      createdAt: new Date(),
    });
    const management = await issueManagement(ctx, manager, author, options.name);
    const using = options.demo
      ? await issueApplication(ctx, manager, author, {
          name: `${options.name} demo`.slice(0, 200),
          type: 'private',
          permissions: demoPermissions,
        })
      : undefined;
    return {
      result: {
        tenant_id: id,
        name: options.name,
        management_key: management.key,
        ...(using ? { private_key: using.key } : {}),
      },
      definitions: [definition, management.definition, ...(using ? [using.definition] : [])],
    };
  });
}
