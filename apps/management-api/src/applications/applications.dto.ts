import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import {
  applicationTypes,
  permissions,
  type ApplicationType,
  type Permission,
  type Transform,
} from '@glovebox/access';
import { invalid } from '@glovebox/problems';
import { queryReadBy } from '../http/request';
import { givenValues, readListQuery, type ListQuery } from '../lists/listing';
import { toStamps, type Answer, type Stamps } from '../changes/created-and-modified';
import { WithSlug } from '../changes/slug';
import { AllowedOrigins } from '../validation/allowed-origins';
import { Destinations } from '../validation/destinations';
import { IsInstant, TextLength, WithoutNul } from '../validation/decorators';
import {
  containerMax,
  containerPath,
  descriptionMax,
  listEntriesMax,
  nameMax,
} from '../validation/resource-limits';
import type { Application } from '../entities/application.entity';

/** Rules of an application. Every call looks at each of them. */
export const rulesMax = 100;

class RuleInput {
  @IsOptional()
  @IsString()
  @TextLength(0, descriptionMax)
  @WithoutNul()
  description?: string;

  @IsInt()
  @Min(1)
  @Max(1_000_000)
  priority!: number;

  @IsString()
  @TextLength(1, containerMax)
  @WithoutNul()
  @Matches(containerPath, {
    message: 'must be a path of letters, digits, _ and -, such as /pci/high/',
  })
  container!: string;

  @IsIn(['reveal', 'mask', 'redact'])
  transform!: Transform;

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(listEntriesMax)
  @IsIn(permissions, { each: true })
  permissions!: Permission[];

  @IsOptional()
  @Destinations()
  destinations?: string[];
}

class ApplicationInput extends WithSlug {
  @IsString()
  @TextLength(1, nameMax)
  @WithoutNul()
  name!: string;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(listEntriesMax)
  @IsIn(permissions, { each: true })
  permissions?: Permission[];

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(rulesMax)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => RuleInput)
  rules?: RuleInput[];

  @IsOptional()
  @IsInstant()
  expires_at?: string;

  /** Of a public application alone. */
  @IsOptional()
  @AllowedOrigins()
  allowed_origins?: string[];
}

export class CreateApplication extends ApplicationInput {
  @IsIn(applicationTypes)
  type!: ApplicationType;
}

export class UpdateApplication extends ApplicationInput {
  /** Must equal the current type. */
  @IsOptional()
  @IsIn(applicationTypes)
  type?: ApplicationType;
}

export interface ApplicationListQuery extends ListQuery {
  readonly type: ApplicationType | undefined;
}

export const ApplicationListing = queryReadBy(readApplicationQuery);

function readApplicationQuery(query: URLSearchParams): ApplicationListQuery {
  const [text, ...others] = givenValues(query, 'type');
  const type = applicationTypes.find((one) => one === text);
  if (text !== undefined && (type === undefined || others.length > 0)) {
    throw invalid({ type: ['must be private, public or management'] });
  }
  return { ...readListQuery(query, ['type']), type };
}

/** True with `?force=true`. */
export const ForceFlag = queryReadBy((query) => {
  const [text = 'false', ...others] = query.getAll('force');
  if (others.length > 0 || !['true', 'false'].includes(text)) {
    throw invalid({ force: ['must be true or false'] });
  }
  return text === 'true';
});

/** Names the application of another resource. Without an id it names none. */
export class ApplicationReference {
  @IsOptional()
  @IsUUID('loose')
  id?: string;
}

/** The members of a resource that acts as an application: as it is sent, and as it is answered. */
export class ActingInput extends WithSlug {
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ApplicationReference)
  application?: ApplicationReference;

  @IsOptional()
  @IsUUID('loose')
  application_id?: string;
}

export interface ApplicationResponse extends Stamps {
  id: string;
  tenant_id: string;
  name: string;
  slug?: string;
  type: ApplicationType;
  permissions: Permission[];
  rules: RuleResponse[];
  expires_at?: string;
  allowed_origins?: string[];
  key?: string;
}

interface RuleResponse {
  description: string;
  priority: number;
  container: string;
  transform: Transform;
  permissions: Permission[];
  destinations?: string[];
}

/** The document that a PUT would take to leave the application as it is. */
export function toApplicationInput(row: Application): Record<string, unknown> {
  const { name, type, permissions, rules, expiresAt, allowedOrigins: allowed_origins } = row;
  return { name, type, permissions, rules, expires_at: expiresAt?.toISOString(), allowed_origins };
}

export function toApplicationResponse(row: Application, answer: Answer): ApplicationResponse {
  return {
    id: row.id,
    tenant_id: row.tenantId,
    name: row.name,
    ...(row.slug === null ? {} : { slug: row.slug }),
    type: row.type,
    permissions: row.permissions,
    rules: row.rules.map((rule) => ({
      description: rule.description,
      priority: rule.priority,
      container: rule.container,
      transform: rule.transform,
      permissions: [...rule.permissions],
      ...(rule.destinations ? { destinations: [...rule.destinations] } : {}),
    })),
    ...(row.expiresAt ? { expires_at: row.expiresAt.toISOString() } : {}),
    ...(row.allowedOrigins.length > 0 ? { allowed_origins: row.allowedOrigins } : {}),
    ...toStamps(row, answer),
  };
}
