import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import {
  applicationTypes,
  permissions,
  type ApplicationType,
  type Permission,
  type Transform,
} from '@glovebox/access';
import { invalid } from '@glovebox/problems';
import { requestOf } from '../http/request';
import { readListQuery, type ListQuery } from '../lists/listing';
import { toStamps, type Answer, type Stamps } from '../changes/created-and-modified';
import {
  Instant,
  NestedList,
  OneOf,
  SomeOf,
  Text,
  Uuid,
  Whole,
  descriptionMax,
  nameMax,
} from '../validation/fields';
import type { Application } from '../entities/application.entity';

/** Of an application; each is looked at by every call of it. */
export const rulesMax = 100;
const containerMax = 200;

export class RuleInput {
  @Text({ min: 0, max: descriptionMax, optional: true })
  description?: string;

  @Whole({ min: 1, max: 1_000_000 })
  priority!: number;

  @Text({
    max: containerMax,
    pattern: /^\/(?:[A-Za-z0-9_-]+\/)*$/,
    must: 'must be a path of letters, digits, _ and -, such as /pci/high/',
  })
  container!: string;

  @OneOf(['reveal', 'mask', 'redact'])
  transform!: Transform;

  @SomeOf(permissions, { min: 1 })
  permissions!: Permission[];
}

class ApplicationInput {
  @Text({ max: nameMax })
  name!: string;

  @SomeOf(permissions, { optional: true })
  permissions?: Permission[];

  @NestedList(() => RuleInput, { max: rulesMax, optional: true })
  rules?: RuleInput[];

  @Instant({ optional: true })
  expires_at?: string;
}

export class CreateApplication extends ApplicationInput {
  @OneOf(applicationTypes)
  type!: ApplicationType;
}

export class UpdateApplication extends ApplicationInput {
  /** Never another than it is. */
  @OneOf(applicationTypes, { optional: true })
  type?: ApplicationType;
}

export interface ApplicationListQuery extends ListQuery {
  readonly type: ApplicationType | undefined;
}

export const ApplicationListing = createParamDecorator((_: unknown, context: ExecutionContext) =>
  readApplicationQuery(new URL(requestOf(context).originalUrl, 'http://localhost').searchParams),
);

function readApplicationQuery(query: URLSearchParams): ApplicationListQuery {
  const [text, ...others] = query.getAll('type');
  const type = applicationTypes.find((one) => one === text);
  if (text !== undefined && (type === undefined || others.length > 0)) {
    throw invalid({ type: ['must be private, public or management'] });
  }
  return { ...readListQuery(query, ['type']), type };
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

/** The document that a PUT would take to leave the application as it is. */
export function toApplicationInput(row: Application): Record<string, unknown> {
  const { name, type, permissions, rules, expires_at } = toApplicationResponse(row, 'read');
  return { name, type, permissions, rules, expires_at };
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
