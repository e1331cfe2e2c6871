import type { Actor } from '@glovebox/access';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { FormulaDefinition } from '@glovebox/definitions';
import { invalid, Problem } from '@glovebox/problems';
import { offeredNames } from '@glovebox/sandbox';
import { change, type Author, type ChangeOutcome } from '../changes/change';
import { changeRow } from '../changes/change-row';
import { Context, type ManagementContext } from '../context';
import { listResources } from '../lists/list-resources';
import type { ListQuery } from '../lists/listing';
import type { Page } from '../lists/page';
import { Reactor } from '../entities/reactor.entity';
import { modifiedNow, newRow } from '../changes/created-and-modified';
import { slugAfter } from '../changes/slug';
import { patchedDto, type MergePatch } from '../validation/patched-dto';
import { checkCode, codeHash } from '../code/check-code';
import { defaultRuntime } from '../code/code-members';
import { ReactorFormula } from '../entities/reactor-formula.entity';
import {
  FormulaInput,
  toFormulaInput,
  toFormulaResponse,
  type FormulaResponse,
} from './reactor-formulas.dto';

@Injectable()
export class ReactorFormulasService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async create(author: Author, input: FormulaInput): Promise<FormulaResponse> {
    return change(this.ctx, author, 'create', (manager) =>
      this.insert(manager, newRow(author), input),
    );
  }

  async insert(
    manager: EntityManager,
    row: ReturnType<typeof newRow>,
    input: FormulaInput,
  ): Promise<ChangeOutcome<FormulaResponse>> {
    this.#check(input);
    const columns = { ...formulaColumns(input), slug: input.slug ?? null };
    const formula = manager.create(ReactorFormula, { ...row, ...columns });
    await manager.insert(ReactorFormula, formula);
    return {
      result: toFormulaResponse(formula, 'created'),
      definitions: [toFormulaDefinition(formula)],
    };
  }

  list({ principal }: Actor, query: ListQuery): Promise<Page> {
    const { tenantId } = principal;
    return listResources(this.ctx.dataSource, ReactorFormula, tenantId, query, (row) =>
      toFormulaResponse(row, 'read'),
    );
  }

  update(author: Author, id: string, input: FormulaInput): Promise<FormulaResponse> {
    const row = { entity: ReactorFormula, id };
    return changeRow(this.ctx, author, 'update', row, (manager, formula) =>
      this.replace(manager, author, formula, input),
    );
  }

  async patch(author: Author, id: string, patch: MergePatch): Promise<void> {
    const row = { entity: ReactorFormula, id };
    await changeRow(this.ctx, author, 'update', row, async (manager, formula) => {
      const input = patchedDto(FormulaInput, toFormulaInput(formula), patch);
      return input ? this.replace(manager, author, formula, input, patch) : { result: undefined };
    });
  }

  async remove(author: Author, id: string): Promise<void> {
    const row = { entity: ReactorFormula, id };
    await changeRow(this.ctx, author, 'delete', row, async (manager, formula) => {
      // The lock on the formula also blocks reactors that are about to refer to it.
      if (await manager.existsBy(Reactor, { tenantId: formula.tenantId, formulaId: id })) {
        throw new Problem('conflict', { detail: 'Reactors use this formula.' });
      }
      await manager.remove(formula);
      return {
        result: undefined,
        deletions: [{ kind: 'formula', id }],
        formerCode: [formula.code],
      };
    });
  }

  /** The formula that the document would make. `path`: its place in a larger document. */
  unsaved(
    row: Pick<ReactorFormula, 'id' | 'tenantId'>,
    input: FormulaInput,
    path: string,
  ): ReactorFormula {
    this.#check(input, path);
    return Object.assign(new ReactorFormula(), row, formulaColumns(input));
  }

  /** The whole update, within a transaction that holds the row. */
  async replace(
    manager: EntityManager,
    author: Author,
    formula: ReactorFormula,
    input: FormulaInput,
    patch?: MergePatch,
  ): Promise<ChangeOutcome<FormulaResponse>> {
    this.#check(input);
    const before = formula.code;
    const slug = slugAfter(formula.slug, input, patch);
    Object.assign(formula, formulaColumns(input), modifiedNow(author), { slug });
    await manager.save(formula);
    return {
      result: toFormulaResponse(formula, 'read'),
      definitions: [toFormulaDefinition(formula)],
      formerCode: before === formula.code ? [] : [before],
    };
  }

  #check({ code, configuration = [], request_parameters = [] }: FormulaInput, path = ''): void {
    const errors = {
      ...nameErrors(`${path}configuration`, configuration),
      ...nameErrors(`${path}request_parameters`, request_parameters),
    };
    if (Object.keys(errors).length > 0) throw invalid(errors);
    checkCode(code, `${path}code`, offeredNames(this.ctx.config));
  }
}

/** The columns that a document sets, with defaults for the members that it omits. */
export function formulaColumns(input: FormulaInput) {
  return {
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
      ({ name, description, type, optional = false, loggable = false }) => ({
        name,
        ...(description === undefined ? {} : { description }),
        type,
        optional,
        loggable,
      }),
    ),
    runtime: input.runtime ?? defaultRuntime,
  };
}

const reserved = new Set(['__proto__', 'constructor', 'prototype']);

/** Requires names to be unique, and refuses levels that could reach a prototype. */
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

export function toFormulaDefinition(formula: ReactorFormula): FormulaDefinition {
  const { id, tenantId, code, runtime, requestParameters } = formula;
  return {
    kind: 'formula',
    id,
    tenantId,
    code,
    codeHash: codeHash(code),
    runtime,
    requestParameters: requestParameters.map(({ name, type, optional, loggable = false }) => ({
      name,
      type,
      optional,
      loggable,
    })),
  };
}
