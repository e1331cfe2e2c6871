import type { Place } from '@glovebox/seal';

/** `whsec_…`, the newest first; a rotated one signs along until its time. */
export interface WebhookSecret {
  readonly secret: string;
  readonly until: string | null;
}

export function webhookSecretsPlace(tenantId: string): Place {
  return { table: 'tenants', column: 'webhook_secrets', tenantId, record: tenantId };
}
