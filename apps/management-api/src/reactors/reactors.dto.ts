import type { Isolation } from '@glovebox/definitions';
import {
  ApplicationReference,
  toApplicationResponse,
  type ApplicationResponse,
} from '../applications/applications.dto';
import type { Application } from '../applications/application.entity';
import type { Configuration } from '../configuration';
import type { ReactorFormula } from '../reactor-formulas/reactor-formula.entity';
import { toFormulaResponse, type FormulaResponse } from '../reactor-formulas/reactor-formulas.dto';
import { toStamps, type Stamps } from '../stamps';
import { Nested, OneOf, StringMap, Text, Uuid } from '../validation/fields';
import type { Reactor } from './reactor.entity';

class FormulaReference {
  @Uuid()
  id!: string;
}

export class CreateReactor {
  @Text({ max: 200 })
  name!: string;

  @StringMap({ scalars: true })
  configuration!: Record<string, string | number | boolean>;

  @Nested(() => FormulaReference)
  formula!: FormulaReference;

  @Nested(() => ApplicationReference, { optional: true })
  application?: ApplicationReference;

  @OneOf(['warm', 'run'], { optional: true })
  isolation?: Isolation;
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
}

export function toReactorResponse(row: Reactor, parts: ReactorParts): ReactorResponse {
  return { ...toBody(row, parts), ...toStamps(row, 'read') };
}

/** Spec 2.1: the answer of a create shows the application, that of list and get does not. */
export function toCreatedReactorResponse(
  row: Reactor,
  parts: ReactorParts & { readonly application: Application | undefined },
): ReactorResponse {
  const { application } = parts;
  return {
    ...toBody(row, parts),
    ...(application ? { application: toApplicationResponse(application, 'read') } : {}),
    ...toStamps(row, 'created'),
  };
}

function toBody(
  row: Reactor,
  { formula, configuration }: ReactorParts,
): Omit<ReactorResponse, keyof Stamps> {
  const { code: _, ...shown } = toFormulaResponse(formula, 'read');
  return {
    id: row.id,
    tenant_id: row.tenantId,
    name: row.name,
    formula: shown,
    configuration,
    isolation: row.isolation,
  };
}
