import { Injectable } from '@nestjs/common';
import { record } from '@glovebox/database';
import type { Actor } from '@glovebox/vault';
import { authorOf } from '../change';
import { Context, type ManagementContext } from '../context';
import { asSql, inTenant } from '../database/in-tenant';
import { Tenant } from './tenant.entity';
import { webhookSecretsPlace, type WebhookSecret } from './webhook-secrets';

@Injectable()
export class TenantsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  /** The secret that signs from now on. Showing it is a use of it, and recorded. */
  async showWebhookSecret(actor: Actor): Promise<{ secret: string }> {
    const author = authorOf(actor);
    const { tenantId } = author;
    const sealed = await inTenant(this.ctx.dataSource, tenantId, async (manager) => {
      const tenant = await manager.findOneByOrFail(Tenant, { id: tenantId });
      await record(asSql(manager), {
        ...author,
        operation: 'tenant.read_webhook_secret',
        entityType: 'tenant',
        entityId: tenantId,
        outcome: 'success',
      });
      return tenant.webhookSecrets;
    });
    const text = await this.ctx.sealer.open(webhookSecretsPlace(tenantId), sealed);
    const [newest] = JSON.parse(text.toString('utf8')) as WebhookSecret[];
    if (!newest) throw new Error('The tenant has no webhook secret');
    return { secret: newest.secret };
  }
}
