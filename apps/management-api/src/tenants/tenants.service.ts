import { applicationDeleted, type Actor } from '@glovebox/access';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { record } from '@glovebox/database';
import { versionOf } from '@glovebox/definitions';
import { change, type Action, type Author } from '../changes/change';
import { requireVersion } from '../changes/change-row';
import { Context, type ManagementContext } from '../context';
import { asSql, inTenant, statementsInTenant } from '../database/in-tenant';
import { modifiedNow } from '../changes/created-and-modified';
import type { EntityTags } from '../http/entity-tags';
import { deleteTenant } from './delete-tenant';
import {
  rotateForwardAuthority,
  showForwardAuthority,
  type ForwardAuthorityResponse,
} from './forward-authorities';
import { Tenant } from '../entities/tenant.entity';
import { checkSettings } from './settings';
import { toTenantDefinition } from './tenant-definition';
import {
  toTenantResponse,
  type TenantResponse,
  type UpdateTenant,
  type WebhookSecretResponse,
} from './tenants.dto';
import { openWebhookSecrets, rotatedSecrets, sealWebhookSecrets } from './webhook-secrets';

@Injectable()
export class TenantsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  get({ principal: { tenantId } }: Actor, tags?: EntityTags): Promise<TenantResponse> {
    return statementsInTenant(this.ctx.dataSource, tenantId, async (manager) => {
      // First: a tag may be older than what is shown, and never newer.
      const version = await versionOf(asSql(manager), 'tenant', tenantId);
      const tenant = await findTenant(manager, tenantId);
      tags?.tell({ id: tenantId, version });
      return toTenantResponse(tenant);
    });
  }

  update(author: Author, { name, settings = {} }: UpdateTenant): Promise<TenantResponse> {
    checkSettings(settings);
    return change(this.ctx, author, 'update', async (manager) => {
      const tenant = await lockTenant(manager, author, 'update');
      Object.assign(tenant, { name, settings }, modifiedNow(author));
      await manager.save(tenant);
      const secrets = await openWebhookSecrets(this.ctx.sealer, tenant);
      return {
        result: toTenantResponse(tenant),
        definitions: [toTenantDefinition(tenant, secrets)],
      };
    });
  }

  remove(author: Author, named: readonly string[]): Promise<void> {
    return deleteTenant(this.ctx, author, named);
  }

  /** Shows the secret that signs now. Each showing is recorded in the audit log. */
  async showWebhookSecret({ principal, traceId }: Actor): Promise<WebhookSecretResponse> {
    const { tenantId, actorId } = principal;
    const tenant = await inTenant(this.ctx.dataSource, tenantId, async (manager) => {
      const found = await findTenant(manager, tenantId);
      await record(asSql(manager), {
        tenantId,
        actorId,
        traceId,
        operation: 'tenant.read_webhook_secret',
        entityType: 'tenant',
        entityId: tenantId,
        outcome: 'success',
      });
      return found;
    });
    const [newest] = await openWebhookSecrets(this.ctx.sealer, tenant);
    if (!newest) throw new Error('The tenant has no webhook secret');
    return { secret: newest.secret };
  }

  showForwardAuthority(actor: Actor): Promise<ForwardAuthorityResponse> {
    const { tenantId } = actor.principal;
    return showForwardAuthority(this.ctx, actor, {
      find: () =>
        inTenant(this.ctx.dataSource, tenantId, (manager) => findTenant(manager, tenantId)),
      lock: (manager) => lockTenant(manager, { tenantId }, 'create_forward_ca'),
    });
  }

  rotateForwardAuthority(author: Author): Promise<ForwardAuthorityResponse> {
    return rotateForwardAuthority(this.ctx, author, (manager) =>
      lockTenant(manager, author, 'rotate_forward_ca'),
    );
  }

  rotateWebhookSecret(author: Author): Promise<WebhookSecretResponse> {
    const { sealer } = this.ctx;
    return change(this.ctx, author, 'rotate_webhook_secret', async (manager) => {
      const tenant = await lockTenant(manager, author, 'rotate_webhook_secret');
      const secrets = rotatedSecrets(await openWebhookSecrets(sealer, tenant));
      const webhookSecrets = await sealWebhookSecrets(sealer, tenant.id, secrets);
      Object.assign(tenant, { webhookSecrets }, modifiedNow(author));
      await manager.save(tenant);
      return {
        result: { secret: secrets[0].secret },
        definitions: [toTenantDefinition(tenant, secrets)],
      };
    });
  }
}

/** A tenant that was deleted during the call took the key of the call with it. */
async function findTenant(manager: EntityManager, id: string): Promise<Tenant> {
  const tenant = await manager.findOneBy(Tenant, { id });
  if (!tenant) throw applicationDeleted();
  return tenant;
}

/** Locks out other writers of the row. Changes in the tenant, which hold the row's key, go on. */
async function lockTenant(
  manager: EntityManager,
  author: Pick<Author, 'tenantId' | 'tags'>,
  action: Action,
): Promise<Tenant> {
  const { tenantId: id } = author;
  const tenant = await manager
    .createQueryBuilder(Tenant, 't')
    .where('t.id = :id', { id })
    .setLock('for_no_key_update')
    .getOneOrFail();
  await requireVersion(asSql(manager), author, action, { kind: 'tenant', id });
  return tenant;
}
