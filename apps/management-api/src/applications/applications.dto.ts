import {
  applicationTypes,
  permissions,
  type ApplicationType,
  type Permission,
  type Transform,
} from '@glovebox/access';
import { toStamps, type Answer, type Stamps } from '../stamps';
import { Instant, NestedList, OneOf, SomeOf, Text, Uuid, Whole } from '../validation/fields';
import type { Application } from './application.entity';

export class RuleInput {
  @Text({ min: 0, max: 1_000, optional: true })
  description?: string;

  @Whole({ min: 1, max: 1_000_000 })
  priority!: number;

  @Text({
    max: 200,
    pattern: /^\/(?:[A-Za-z0-9_-]+\/)*$/,
    must: 'must be a path of letters, digits, _ and -, such as /pci/high/',
  })
  container!: string;

  @OneOf(['reveal', 'mask', 'redact'])
  transform!: Transform;

  @SomeOf(permissions, { min: 1 })
  permissions!: Permission[];
}

export class CreateApplication {
  @Text({ max: 200 })
  name!: string;

  @OneOf(applicationTypes)
  type!: ApplicationType;

  @SomeOf(permissions, { optional: true })
  permissions?: Permission[];

  @NestedList(() => RuleInput, { max: 100, optional: true })
  rules?: RuleInput[];

  @Instant({ optional: true })
  expires_at?: string;
}

/** How another resource names its application. */
export class ApplicationReference {
  @Uuid()
  id!: string;
}

export interface ApplicationResponse extends Stamps {
  id: string;
  tenant_id: string;
  name: string;
  type: ApplicationType;
  permissions: Permission[];
  rules: RuleResponse[];
  expires_at?: string;
  key?: string;
}

interface RuleResponse {
  description: string;
  priority: number;
  container: string;
  transform: Transform;
  permissions: Permission[];
}

export function toApplicationResponse(row: Application, answer: Answer): ApplicationResponse {
  return {
    id: row.id,
    tenant_id: row.tenantId,
    name: row.name,
    type: row.type,
    permissions: row.permissions,
    rules: row.rules.map((rule) => ({
      description: rule.description,
      priority: rule.priority,
      container: rule.container,
      transform: rule.transform,
      permissions: [...rule.permissions],
    })),
    ...(row.expiresAt ? { expires_at: row.expiresAt.toISOString() } : {}),
    ...toStamps(row, answer),
  };
}
