import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FormulaDefinition } from '@glovebox/definitions';
import { invalid } from '@glovebox/problems';
import type { Actor } from '@glovebox/vault';
import { authorOf, change } from '../change';
import { Context, type ManagementContext } from '../context';
import { checkCode, codeHash } from './check-code';
import { ReactorFormula } from './reactor-formula.entity';
import {
  defaultRuntime,
  toFormulaResponse,
  type CreateFormula,
  type FormulaResponse,
} from './reactor-formulas.dto';

@Injectable()
export class ReactorFormulasService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async create(actor: Actor, input: CreateFormula): Promise<FormulaResponse> {
    this.#check(input);
    const author = authorOf(actor);
    return change(this.ctx, author, 'create', async (manager) => {
      const formula = manager.create(ReactorFormula, {
        id: randomUUID(),
        tenantId: author.tenantId,
        type: input.type ?? 'private',
        name: input.name,
        description: input.description ?? null,
        icon: input.icon ?? null,
        code: input.code,
        configuration: (input.configuration ?? []).map(({ name, description, type }) => ({
          name,
          ...(description === undefined ? {} : { description }),
          type,
        })),
        requestParameters: (input.request_parameters ?? []).map(
          ({ name, description, type, optional = false }) => ({
            name,
            ...(description === undefined ? {} : { description }),
            type,
            optional,
          }),
        ),
        runtime: input.runtime ?? defaultRuntime,
        createdBy: author.actorId,
        createdAt: new Date(),
        modifiedBy: null,
        modifiedAt: null,
      });
      await manager.insert(ReactorFormula, formula);
      return {
        result: toFormulaResponse(formula, 'created'),
        definitions: [toFormulaDefinition(formula)],
      };
    });
  }

  #check({ code, configuration = [], request_parameters = [] }: CreateFormula): void {
    const errors = {
      ...nameErrors('configuration', configuration),
      ...nameErrors('request_parameters', request_parameters),
    };
    if (Object.keys(errors).length > 0) throw invalid(errors);
    checkCode(code, 'code', this.ctx.config.REACTOR_ERRORS_ALIASES);
  }
}

const reserved = new Set(['__proto__', 'constructor', 'prototype']);

/** A name stands once, and no level of it could reach a prototype. */
function nameErrors(
  list: string,
  entries: readonly { readonly name: string }[],
): Record<string, string[]> {
  const names = entries.map(({ name }) => name);
  return Object.fromEntries(
    names.flatMap((name, index) => {
      const path = `${list}.${index}.name`;
      if (names.indexOf(name) !== index) return [[path, ['is there twice']]];
      const isReserved = name.split('.').some((level) => reserved.has(level));
      return isReserved ? [[path, ['is a reserved name']]] : [];
    }),
  );
}

function toFormulaDefinition(formula: ReactorFormula): FormulaDefinition {
  const { id, tenantId, code, runtime, requestParameters } = formula;
  return {
    kind: 'formula',
    id,
    tenantId,
    code,
    codeHash: codeHash(code),
    runtime,
    requestParameters: requestParameters.map(({ name, type, optional }) => ({
      name,
      type,
      optional,
    })),
  };
}
