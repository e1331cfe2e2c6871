import type { ParameterType } from '@glovebox/definitions';
import type { Runtime } from '@glovebox/sandbox';
import { Code, RuntimeName } from '../code/code-members';
import { toStamps, type Answer, type Stamps } from '../changes/created-and-modified';
import { Flag, NestedList, OneOf, Text, descriptionMax, nameMax } from '../validation/fields';
import type { ReactorFormula } from '../entities/reactor-formula.entity';

/** Of configuration entries, and of request parameters. */
export const parametersMax = 25;
export const parameterNameMax = 200;
/** An address, or a small picture as a data URL. */
export const iconMax = 50_000;

class ConfigurationInput {
  @Text({
    max: parameterNameMax,
    pattern: /^[\w-]+$/,
    must: 'must be made of letters, digits, _ and -',
  })
  name!: string;

  @Text({ min: 0, max: descriptionMax, optional: true })
  description?: string;

  @OneOf(['string', 'boolean', 'number'])
  type!: 'string' | 'boolean' | 'number';
}

class ParameterInput {
  @Text({
    max: parameterNameMax,
    pattern: /^[\w-]+(?:\.[\w-]+)*$/,
    must: 'must be made of letters, digits, _ and -, with dots between levels',
  })
  name!: string;

  @Text({ min: 0, max: descriptionMax, optional: true })
  description?: string;

  @OneOf(['string', 'boolean', 'number', 'object'])
  type!: ParameterType;

  @Flag({ optional: true })
  optional?: boolean;
}

/** The document of a create and of a full update. */
export class FormulaInput {
  @OneOf(['private'], { optional: true })
  type?: 'private';

  @Text({ max: nameMax })
  name!: string;

  @Text({ min: 0, max: descriptionMax, optional: true })
  description?: string;

  @Text({ min: 0, max: iconMax, optional: true })
  icon?: string;

  @Code()
  code!: string;

  @NestedList(() => ConfigurationInput, { max: parametersMax, optional: true })
  configuration?: ConfigurationInput[];

  @NestedList(() => ParameterInput, { max: parametersMax, optional: true })
  request_parameters?: ParameterInput[];

  @RuntimeName()
  runtime?: Runtime;
}

export interface FormulaResponse extends Stamps {
  id: string;
  tenant_id: string;
  type: 'private';
  name: string;
  description?: string;
  icon?: string;
  code: string;
  configuration: { name: string; description?: string; type: string }[];
  request_parameters: { name: string; description?: string; type: string; optional: boolean }[];
  runtime: Runtime;
}

const descriptionOf = ({ description }: { description?: string }): { description?: string } =>
  description === undefined ? {} : { description };

/** The document that a PUT would take to leave the formula as it is. */
export function toFormulaInput(row: ReactorFormula): Record<string, unknown> {
  const { type, name, description, icon, code, configuration, request_parameters, runtime } =
    toFormulaResponse(row, 'read');
  return { type, name, description, icon, code, configuration, request_parameters, runtime };
}

export function toFormulaResponse(row: ReactorFormula, answer: Answer): FormulaResponse {
  return {
    id: row.id,
    tenant_id: row.tenantId,
    type: row.type,
    name: row.name,
    ...(row.description === null ? {} : { description: row.description }),
    ...(row.icon === null ? {} : { icon: row.icon }),
    code: row.code,
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
    })),
    runtime: row.runtime,
    ...toStamps(row, answer),
  };
}
