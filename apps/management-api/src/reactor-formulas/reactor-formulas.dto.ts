import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  ValidateNested,
} from 'class-validator';
import type { ParameterType } from '@glovebox/definitions';
import type { Runtime } from '@glovebox/sandbox';
import { Code, CodeSha256, RuntimeName, toEndOfLife } from '../code/code-members';
import type { CodeMembers } from '../code/stored-code';
import { toStamps, type Answer, type Stamps } from '../changes/created-and-modified';
import { WithSlug } from '../changes/slug';
import { TextLength, WithoutNul } from '../validation/decorators';
import { descriptionMax, nameMax } from '../validation/resource-limits';
import type { ReactorFormula } from '../entities/reactor-formula.entity';

/** Entries of `configuration`, and of `request_parameters`. */
export const parametersMax = 25;
export const parameterNameMax = 200;
/** Characters of an icon: an address, or a small picture as a data URL. */
const iconMax = 50_000;

export class ConfigurationInput {
  @IsString()
  @TextLength(1, parameterNameMax)
  @WithoutNul()
  @Matches(/^[\w-]+$/, { message: 'must be made of letters, digits, _ and -' })
  name!: string;

  @IsOptional()
  @IsString()
  @TextLength(0, descriptionMax)
  @WithoutNul()
  description?: string;

  @IsIn(['string', 'boolean', 'number'])
  type!: 'string' | 'boolean' | 'number';
}

export class ParameterInput {
  @IsString()
  @TextLength(1, parameterNameMax)
  @WithoutNul()
  @Matches(/^[\w-]+(?:\.[\w-]+)*$/, {
    message: 'must be made of letters, digits, _ and -, with dots between levels',
  })
  name!: string;

  @IsOptional()
  @IsString()
  @TextLength(0, descriptionMax)
  @WithoutNul()
  description?: string;

  @IsIn(['string', 'boolean', 'number', 'object'])
  type!: ParameterType;

  @IsOptional()
  @IsBoolean()
  optional?: boolean;

  @IsOptional()
  @IsBoolean()
  loggable?: boolean;
}

/** The document of a create and of a full update. */
export class FormulaInput extends WithSlug {
  @IsOptional()
  @IsIn(['private'])
  type?: 'private';

  @IsString()
  @TextLength(1, nameMax)
  @WithoutNul()
  name!: string;

  @IsOptional()
  @IsString()
  @TextLength(0, descriptionMax)
  @WithoutNul()
  description?: string;

  @IsOptional()
  @IsString()
  @TextLength(0, iconMax)
  @WithoutNul()
  icon?: string;

  @Code()
  code?: string;

  /** Of a bundle, in the place of code. */
  @CodeSha256()
  code_sha256?: string;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(parametersMax)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ConfigurationInput)
  configuration?: ConfigurationInput[];

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(parametersMax)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ParameterInput)
  request_parameters?: ParameterInput[];

  @RuntimeName()
  runtime?: Runtime;
}

export interface FormulaResponse extends Stamps {
  id: string;
  tenant_id: string;
  type: 'private';
  name: string;
  slug?: string;
  description?: string;
  icon?: string;
  code?: string;
  code_sha256?: string;
  configuration: { name: string; description?: string; type: string }[];
  request_parameters: {
    name: string;
    description?: string;
    type: string;
    optional: boolean;
    loggable: boolean;
  }[];
  runtime: Runtime;
  runtime_end_of_life?: string;
}

const descriptionOf = ({ description }: { description?: string }): { description?: string } =>
  description === undefined ? {} : { description };

export const codeOfFormula = ({
  code,
  codeSha256: hash,
}: Pick<ReactorFormula, 'code' | 'codeSha256'>): CodeMembers =>
  hash === null ? { code } : { code_sha256: hash };

/** The document that a PUT would take to leave the formula as it is. */
export function toFormulaInput(row: ReactorFormula): Record<string, unknown> {
  return {
    type: row.type,
    name: row.name,
    description: row.description,
    icon: row.icon,
    ...codeOfFormula(row),
    configuration: row.configuration,
    request_parameters: row.requestParameters,
    runtime: row.runtime,
  };
}

export function toFormulaResponse(row: ReactorFormula, answer: Answer): FormulaResponse {
  return {
    id: row.id,
    tenant_id: row.tenantId,
    type: row.type,
    name: row.name,
    ...(row.slug === null ? {} : { slug: row.slug }),
    ...(row.description === null ? {} : { description: row.description }),
    ...(row.icon === null ? {} : { icon: row.icon }),
    ...codeOfFormula(row),
    configuration: row.configuration.map((entry) => ({
      name: entry.name,
      ...descriptionOf(entry),
      type: entry.type,
    })),
    request_parameters: row.requestParameters.map((entry) => ({
      name: entry.name,
      ...descriptionOf(entry),
      type: entry.type,
      optional: entry.optional,
      loggable: entry.loggable ?? false,
    })),
    runtime: row.runtime,
    ...toEndOfLife(row.runtime),
    ...toStamps(row, answer),
  };
}
