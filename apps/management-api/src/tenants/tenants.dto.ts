import { IsOptional, IsString } from 'class-validator';
import { toStamps, type Stamps } from '../changes/created-and-modified';
import { queryReadBy } from '../http/request';
import { IsStringMap, TextLength, WithoutNul } from '../validation/decorators';
import { nameMax } from '../validation/resource-limits';
import type { Tenant } from '../entities/tenant.entity';

export class UpdateTenant {
  @IsString()
  @TextLength(1, nameMax)
  @WithoutNul()
  name!: string;

  @IsOptional()
  @IsStringMap()
  settings?: Record<string, string>;
}

export class DeleteTenant {
  @IsOptional()
  @IsString()
  name?: string;
}

/** The names in the query: some clients and proxies send no body with a DELETE. */
export const NamedInQuery = queryReadBy((query) => query.getAll('name'));

export interface TenantResponse extends Stamps {
  id: string;
  name: string;
  settings: Record<string, string>;
}

export interface WebhookSecretResponse {
  secret: string;
}

/** A tenant has no `created_by`: the operator who creates it is no application. */
export function toTenantResponse(row: Tenant): TenantResponse {
  return {
    id: row.id,
    name: row.name,
    settings: row.settings,
    ...toStamps({ ...row, createdBy: null }, 'read'),
  };
}
