import { applyDecorators } from '@nestjs/common';
import { Type } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  ValidateNested,
} from 'class-validator';
import type { ApplicationType } from '@glovebox/access';
import type { CursorQuery } from '@glovebox/database';
import { invalid } from '@glovebox/problems';
import type { Isolation } from '@glovebox/sandbox';
import {
  ActingInput,
  ApplicationReference,
  CreateApplication,
} from '../applications/applications.dto';
import { Slug } from '../changes/slug';
import { configurationBytesMax } from '../code/configuration';
import { queryReadBy } from '../http/request';
import { readCursorQuery } from '../lists/cursor';
import { QueryFilters } from '../lists/query-filters';
import type { LineActor } from '../logs/logs.dto';
import { ProxyInput } from '../proxies/proxies.dto';
import { FormulaInput, parameterNameMax } from '../reactor-formulas/reactor-formulas.dto';
import { IsAnyJson, IsStringMap, TextLength, WithoutNul } from '../validation/decorators';
import { nameMax } from '../validation/resource-limits';

export const deploymentItemsMax = 500;
const messageMax = 500;
const etagMax = 100;

/** Null keeps the value that is stored under the name. */
export type DeployedConfiguration = Record<string, string | number | boolean | null>;

const ConfigurationWithKept = (): PropertyDecorator =>
  applyDecorators(
    IsOptional(),
    IsStringMap({
      ...{ scalars: true, nulls: true },
      ...{ nameMax: parameterNameMax, bytesMax: configurationBytesMax },
    }),
  );

/** Names a resource that has no slug yet. */
const ExistingId = (): PropertyDecorator => applyDecorators(IsOptional(), IsUUID('loose'));

/** The version that may be overwritten, as a conflict or a dry run told it. */
const SeenVersion = (): PropertyDecorator =>
  applyDecorators(IsOptional(), IsString(), TextLength(1, etagMax), WithoutNul());

class DeployedReference extends ApplicationReference {
  @IsOptional()
  @Slug()
  slug?: string;
}

export class DeployedApplication extends CreateApplication {
  @IsIn(['application'])
  kind!: 'application';

  @IsIn(['private', 'public'])
  override type!: ApplicationType;

  @ExistingId()
  id?: string;

  @SeenVersion()
  etag?: string;
}

class DeployedFormula extends FormulaInput {
  /** That of the reactor if it is left out. */
  @IsOptional()
  @IsString()
  @TextLength(1, nameMax)
  @WithoutNul()
  override name!: string;
}

export class DeployedReactor extends ActingInput {
  @IsIn(['reactor'])
  kind!: 'reactor';

  @ExistingId()
  id?: string;

  @SeenVersion()
  etag?: string;

  @IsString()
  @TextLength(1, nameMax)
  @WithoutNul()
  name!: string;

  @IsObject()
  @ValidateNested()
  @Type(() => DeployedFormula)
  formula!: DeployedFormula;

  @ConfigurationWithKept()
  configuration?: DeployedConfiguration;

  @IsOptional()
  @IsIn(['warm', 'run'])
  isolation?: Isolation;

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => DeployedReference)
  override application?: DeployedReference;
}

export class DeployedProxy extends ProxyInput {
  @IsIn(['proxy'])
  kind!: 'proxy';

  @ExistingId()
  id?: string;

  @SeenVersion()
  etag?: string;

  // Names with null are taken out before the proxy is written.
  @ConfigurationWithKept()
  override configuration?: Record<string, string | number | boolean>;

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => DeployedReference)
  override application?: DeployedReference;
}

export type DeployedItem = DeployedApplication | DeployedReactor | DeployedProxy;
export type DeployedKind = DeployedItem['kind'];

export const deployedItems = {
  application: DeployedApplication,
  reactor: DeployedReactor,
  proxy: DeployedProxy,
} as const;

export const deployedKinds = Object.keys(deployedItems) as DeployedKind[];

class DeploymentOptions {
  @IsOptional()
  @IsString()
  @TextLength(0, messageMax)
  @WithoutNul()
  message?: string;

  /** Answers what would change, and changes nothing. */
  @IsOptional()
  @IsBoolean()
  dry_run?: boolean;

  /** Overwrites what was changed by hand meanwhile. */
  @IsOptional()
  @IsBoolean()
  force?: boolean;
}

export class CreateDeployment extends DeploymentOptions {
  /** Whose files these are. */
  @IsOptional()
  @Slug()
  project?: string;

  /** `readItems` reads it: the members of an item depend on its kind. */
  @IsAnyJson()
  items!: unknown;

  /** Deletes what the project had deployed before and is not among the items. */
  @IsOptional()
  @IsBoolean()
  prune?: boolean;
}

export class RollbackInput extends DeploymentOptions {
  /** The newest deployment of the project, as the caller knows it. */
  @IsOptional()
  @IsUUID('loose')
  newest_id?: string;
}

export interface ItemChange {
  kind: DeployedKind;
  slug: string;
  id: string;
  change: 'created' | 'updated' | 'unchanged' | 'pruned';
  /** Those that an update changes. */
  members?: string[];
  /** Of what is in force, in a dry run. */
  etag?: string;
}

/** A resource that was changed by hand since it was deployed. */
export interface ItemConflict {
  kind: DeployedKind;
  slug: string;
  id: string;
  /** The other project that put it in force. */
  project?: string;
  etag?: string;
  /** Those that differ from what was deployed. */
  members: string[];
  /** Their values, for callers who may read the resource. Absent: there is none. */
  deployed?: Record<string, unknown>;
  current?: Record<string, unknown>;
}

export interface DeploymentResponse {
  /** Absent in a dry run, and where nothing has been deployed yet. */
  id?: string;
  changes: ItemChange[];
}

export interface DeploymentRow {
  id: string;
  message: string | null;
  project: string | null;
  rollbackOf: string | null;
  changes: ItemChange[];
  traceId: string;
  createdBy: string | null;
  createdAt: Date;
  personName: string | null;
  applicationName: string | null;
}

export interface DeploymentShown {
  id: string;
  message?: string;
  project?: string;
  rollback_of?: string;
  counts: Record<ItemChange['change'], number>;
  trace_id: string;
  created_by?: string;
  actor?: LineActor;
  created_at: string;
}

export interface DeploymentDetails extends DeploymentShown {
  changes: ItemChange[];
}

export const DeploymentListing = queryReadBy((query): CursorQuery => {
  const errors: Record<string, string[]> = {};
  const result = readCursorQuery(query, errors, new QueryFilters(query, errors), []);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return result;
});
