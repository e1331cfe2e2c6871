import type { Isolation } from '@glovebox/sandbox';
import {
  ApplicationReference,
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
import { Nested, OneOf, StringMap, Text, Uuid, nameMax } from '../validation/fields';
import type { Reactor } from '../entities/reactor.entity';

class FormulaReference {
  @Uuid()
  id!: string;
}

class ReactorInput {
  @Text({ max: nameMax })
  name!: string;

  @StringMap({ scalars: true, nameMax: parameterNameMax, bytesMax: configurationBytesMax })
  configuration!: Record<string, string | number | boolean>;

  @Nested(() => ApplicationReference, { optional: true })
  application?: ApplicationReference;

  @OneOf(['warm', 'run'], { optional: true })
  isolation?: Isolation;
}

/** The whole document: what a create takes, and what a PATCH patches. */
export class CreateReactor extends ReactorInput {
  @Nested(() => FormulaReference)
  formula!: FormulaReference;
}

export class UpdateReactor extends ReactorInput {
  /** Never another than it is. */
  @Nested(() => FormulaReference, { optional: true })
  formula?: FormulaReference;
}

export interface ReactorResponse extends Stamps {
  id: string;
  tenant_id: string;
  name: string;
  formula: Omit<FormulaResponse, 'code'>;
  configuration: Configuration;
  application?: ApplicationResponse;
  isolation: Isolation;
}

interface ReactorParts {
  readonly formula: ReactorFormula;
  readonly configuration: Configuration;
  /** Answers to create and update show it. Answers to list and get do not. */
  readonly application?: Application | undefined;
}

/** The document that would leave the reactor as it is. */
export function toReactorInput(row: Reactor, configuration: Configuration) {
  const { name, formulaId, applicationId, isolation } = row;
  return {
    name,
    configuration,
    formula: { id: formulaId },
    ...(applicationId ? { application: { id: applicationId } } : {}),
    isolation,
  };
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
    formula: shown,
    configuration,
    ...(application ? { application: toApplicationResponse(application, 'read') } : {}),
    isolation: row.isolation,
    ...toStamps(row, answer),
  };
}
