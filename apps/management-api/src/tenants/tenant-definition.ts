import type { TenantDefinition } from '@glovebox/definitions';
import type { Tenant } from '../entities/tenant.entity';
import type { WebhookSecret } from './webhook-secrets';

export function toTenantDefinition(
  { id, settings }: Pick<Tenant, 'id' | 'settings'>,
  webhookSecrets: readonly WebhookSecret[],
): TenantDefinition {
  return { kind: 'tenant', id, tenantId: id, settings, webhookSecrets };
}
