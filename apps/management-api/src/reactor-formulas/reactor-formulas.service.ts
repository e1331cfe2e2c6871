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
import { defaultRuntime } from '../code/code-members';
import {
  checkGiven,
  givenCode,
  holdBundles,
  isSameCode,
  requiredCode,
  toRunnableCode,
  withoutReplaced,
} from '../code/stored-code';
import { asSql } from '../database/in-tenant';
import { ReactorFormula } from '../entities/reactor-formula.entity';
import {
  codeOfFormula,
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
    await holdBundles(asSql(manager), row.tenantId, [['', codeOfFormula(columns)]]);
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
      const document = withoutReplaced(toFormulaInput(formula), patch);
      const input = patchedDto(FormulaInput, document, patch);
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
        formerCode: [codeOfFormula(formula)],
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
    const before = codeOfFormula(formula);
    if (!patch) keepBundle(formula, input);
    this.#check(input);
    const slug = slugAfter(formula.slug, input, patch);
    Object.assign(formula, formulaColumns(input), modifiedNow(author), { slug });
    const after = codeOfFormula(formula);
    if (!isSameCode(before, after))
      await holdBundles(asSql(manager), formula.tenantId, [['', after]]);
    await manager.save(formula);
    return {
      result: toFormulaResponse(formula, 'read'),
      definitions: [toFormulaDefinition(formula)],
      formerCode: isSameCode(before, after) ? [] : [before],
    };
  }

  #check(input: FormulaInput, path = ''): void {
    const { configuration = [], request_parameters = [] } = input;
    const errors = {
      ...nameErrors(`${path}configuration`, configuration),
      ...nameErrors(`${path}request_parameters`, request_parameters),
    };
    if (Object.keys(errors).length > 0) throw invalid(errors);
    checkGiven(requiredCode(input, path), path, offeredNames(this.ctx.config));
  }
}

/** The columns that a document sets, with defaults for the members that it omits. */
export function formulaColumns(input: FormulaInput) {
  return {
    type: input.type ?? 'private',
    name: input.name,
    description: input.description ?? null,
    icon: input.icon ?? null,
    ...columnsOfCode(input),
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

function columnsOfCode(input: FormulaInput): Pick<ReactorFormula, 'code' | 'codeSha256'> {
  const { code = '', code_sha256: hash = null } = requiredCode(input, '');
  return { code, codeSha256: hash };
}

/** A client that knows nothing of bundles sends none back: the stored one stays, and its runtime. */
function keepBundle(formula: ReactorFormula, input: FormulaInput): void {
  if (formula.codeSha256 === null || givenCode(input, '')) return;
  input.code_sha256 = formula.codeSha256;
  input.runtime ??= formula.runtime;
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
  const { id, tenantId, runtime, requestParameters } = formula;
  return {
    kind: 'formula',
    id,
    tenantId,
    ...toRunnableCode(codeOfFormula(formula), runtime),
    requestParameters: requestParameters.map(({ name, type, optional, loggable = false }) => ({
      name,
      type,
      optional,
      loggable,
    })),
  };
}
