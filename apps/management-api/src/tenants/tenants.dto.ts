import { toStamps, type Stamps } from '../changes/created-and-modified';
import { StringMap, Text, nameMax } from '../validation/fields';
import type { Tenant } from '../entities/tenant.entity';

export class UpdateTenant {
  @Text({ max: nameMax })
  name!: string;

  @StringMap({ optional: true })
  settings?: Record<string, string>;
}

export interface TenantResponse extends Stamps {
  id: string;
  name: string;
  settings: Record<string, string>;
}

export interface WebhookSecretResponse {
  secret: string;
}

/** The operator made it, who is no application. */
export function toTenantResponse(row: Tenant): TenantResponse {
  return {
    id: row.id,
    name: row.name,
    settings: row.settings,
    ...toStamps({ ...row, createdBy: null }, 'read'),
  };
}
