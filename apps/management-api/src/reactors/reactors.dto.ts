import { Type } from 'class-transformer';
import { IsIn, IsObject, IsOptional, IsString, IsUUID, ValidateNested } from 'class-validator';
import type { Isolation } from '@glovebox/sandbox';
import {
  ActingInput,
  toApplicationResponse,
  type ApplicationResponse,
} from '../applications/applications.dto';
import type { Application } from '../entities/application.entity';
import { configurationBytesMax, type Configuration } from '../code/configuration';
import type { ReactorFormula } from '../entities/reactor-formula.entity';
import {
  parameterNameMax,
  toFormulaResponse,
  type FormulaResponse,
} from '../reactor-formulas/reactor-formulas.dto';
import { toStamps, type Answer, type Stamps } from '../changes/created-and-modified';
import { IsStringMap, TextLength, WithoutNul } from '../validation/decorators';
import { nameMax } from '../validation/resource-limits';
import type { Reactor } from '../entities/reactor.entity';

class FormulaReference {
  @IsUUID('loose')
  id!: string;
}

class ReactorInput extends ActingInput {
  @IsString()
  @TextLength(1, nameMax)
  @WithoutNul()
  name!: string;

  @IsStringMap({ scalars: true, nameMax: parameterNameMax, bytesMax: configurationBytesMax })
  configuration!: Record<string, string | number | boolean>;

  @IsOptional()
  @IsIn(['warm', 'run'])
  isolation?: Isolation;
}

/** The whole document, as a create takes it and a PATCH patches it. */
export class CreateReactor extends ReactorInput {
  @IsObject()
  @ValidateNested()
  @Type(() => FormulaReference)
  formula!: FormulaReference;
}

export class UpdateReactor extends ReactorInput {
  /** Must name the current formula. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => FormulaReference)
  formula?: FormulaReference;
}

export interface ReactorResponse extends Stamps {
  id: string;
  tenant_id: string;
  name: string;
  slug?: string;
  formula: Omit<FormulaResponse, 'code'>;
  configuration: Configuration;
  application_id?: string;
  application?: ApplicationResponse;
  isolation: Isolation;
}

interface ReactorParts {
  readonly formula: ReactorFormula;
  readonly configuration: Configuration;
  /** Answers to create and update show it. Answers to list and get show its id alone. */
  readonly application?: Application | undefined;
}

/** The document that would leave the reactor as it is, but for its application. */
export function toReactorInput(row: Reactor, configuration: Configuration) {
  const { name, formulaId, isolation } = row;
  return { name, configuration, formula: { id: formulaId }, isolation };
}

export function toReactorResponse(
  row: Reactor,
  { formula, configuration, application }: ReactorParts,
  answer: Answer,
): ReactorResponse {
  const { code: _, ...shown } = toFormulaResponse(formula, 'read');
  return {
    id: row.id,
    tenant_id: row.tenantId,
    name: row.name,
    ...(row.slug === null ? {} : { slug: row.slug }),
    formula: shown,
    configuration,
    ...(row.applicationId ? { application_id: row.applicationId } : {}),
    ...(application ? { application: toApplicationResponse(application, 'read') } : {}),
    isolation: row.isolation,
    ...toStamps(row, answer),
  };
}
