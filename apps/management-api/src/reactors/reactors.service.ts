import type { Actor, Principal } from '@glovebox/access';
import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import type { ReactorDefinition } from '@glovebox/definitions';
import { invalid, notFound } from '@glovebox/problems';
import type { Place } from '@glovebox/seal';
import { referenceToPatch, usableApplication } from '../applications/usable-application';
import { change, type Author, type ChangeOutcome } from '../changes/change';
import { changeRow } from '../changes/change-row';
import {
  configurationErrors,
  openConfiguration,
  sealConfiguration,
  toConfiguration,
  type Configuration,
} from '../code/configuration';
import { shownTo } from '../console/shown-to';
import { Context, type ManagementContext } from '../context';
import { inTenant, statementsInTenant } from '../database/in-tenant';
import { listIds, type ListQuery } from '../lists/listing';
import { Page, rowsOf, type Portion } from '../lists/page';
import { readPortion } from '../lists/portion';
import { ReactorFormula } from '../entities/reactor-formula.entity';
import { modifiedNow, newRow } from '../changes/created-and-modified';
import { slugAfter } from '../changes/slug';
import { patchedDto, type MergePatch } from '../validation/patched-dto';
import { codeOfFormula } from '../reactor-formulas/reactor-formulas.dto';
import { Reactor } from '../entities/reactor.entity';
import {
  CreateReactor,
  toReactorInput,
  toReactorResponse,
  type ReactorResponse,
  type UpdateReactor,
} from './reactors.dto';

type ShownReactor = ReturnType<typeof shownTo<ReactorResponse>>;

@Injectable()
export class ReactorsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async create(author: Author, input: CreateReactor): Promise<ShownReactor> {
    return change(this.ctx, author, 'create', (manager) =>
      this.insert(manager, author, newRow(author), input),
    );
  }

  /** `formula`: that of the reactor, if the transaction holds it already. */
  async insert(
    manager: EntityManager,
    author: Author,
    made: ReturnType<typeof newRow>,
    input: CreateReactor,
    formula?: ReactorFormula,
  ): Promise<ChangeOutcome<ShownReactor>> {
    const row = { ...made, formulaId: input.formula.id.toLowerCase(), applicationId: null };
    const { columns, ...parts } = await this.#decide(manager, author, row, input, formula);
    const reactor = manager.create(Reactor, { ...row, ...columns, slug: input.slug ?? null });
    await manager.insert(Reactor, reactor);
    return {
      result: shownTo(author, toReactorResponse(reactor, parts, 'created')),
      definitions: [toReactorDefinition(reactor, parts.configuration)],
    };
  }

  async list({ principal }: Actor, query: ListQuery): Promise<Page> {
    const { tenantId } = principal;
    const { dataSource } = this.ctx;
    const { ids, pagination } = await inTenant(dataSource, tenantId, (manager) =>
      listIds(manager, Reactor, tenantId, query),
    );
    const read = (portion: Portion) =>
      statementsInTenant(dataSource, tenantId, async (manager) => {
        const rows = await readPortion(manager, Reactor, tenantId, portion, formulaBytes);
        const formulas = await formulasOf(manager, tenantId, rows);
        return rows.map((reactor) => ({ id: reactor.id, reactor, formulas }));
      });
    const rows = rowsOf(ids, read, ({ reactor, formulas }) =>
      this.#show(principal, reactor, formulas),
    );
    return new Page(pagination, rows);
  }

  async show({ principal }: Actor, reactor: Reactor): Promise<ShownReactor> {
    const { tenantId } = reactor;
    const formulas = await statementsInTenant(this.ctx.dataSource, tenantId, (manager) =>
      formulasOf(manager, tenantId, [reactor]),
    );
    const shown = await this.#show(principal, reactor, formulas);
    if (!shown) throw notFound(Reactor.noun);
    return shown;
  }

  update(author: Author, id: string, input: UpdateReactor): Promise<ShownReactor> {
    const row = { entity: Reactor, id };
    return changeRow(this.ctx, author, 'update', row, (manager, reactor) =>
      this.replace(manager, author, reactor, input),
    );
  }

  async patch(author: Author, id: string, patch: MergePatch): Promise<void> {
    const row = { entity: Reactor, id };
    await changeRow(this.ctx, author, 'update', row, async (manager, reactor) => {
      const document = {
        ...toReactorInput(reactor, await this.configurationOf(reactor)),
        ...referenceToPatch(patch, reactor.applicationId),
      };
      const input = patchedDto(CreateReactor, document, patch);
      return input ? this.replace(manager, author, reactor, input, patch) : { result: undefined };
    });
  }

  async remove(author: Author, id: string): Promise<void> {
    const row = { entity: Reactor, id };
    await changeRow(this.ctx, author, 'delete', row, async (manager, reactor) => {
      const { formulaId, tenantId } = reactor;
      const formula = await manager.findOneByOrFail(ReactorFormula, { id: formulaId, tenantId });
      await manager.remove(reactor);
      return {
        result: undefined,
        deletions: [{ kind: 'reactor', id }],
        formerCode: [codeOfFormula(formula)],
      };
    });
  }

  /** The whole update, within a transaction that holds the row. */
  async replace(
    manager: EntityManager,
    author: Author,
    reactor: Reactor,
    input: UpdateReactor,
    patch?: MergePatch,
  ): Promise<ChangeOutcome<ShownReactor>> {
    const { columns, ...parts } = await this.#decide(manager, author, reactor, input);
    const slug = slugAfter(reactor.slug, input, patch);
    Object.assign(reactor, columns, modifiedNow(author), { slug });
    await manager.save(reactor);
    return {
      result: shownTo(author, toReactorResponse(reactor, parts, 'read')),
      definitions: [toReactorDefinition(reactor, parts.configuration)],
    };
  }

  /**
   * The columns that a document sets and the resources that it refers to. Throws all its errors at
   * once.
   */
  async #decide(
    manager: EntityManager,
    author: Author,
    reactor: Pick<Reactor, 'id' | 'tenantId' | 'formulaId' | 'applicationId'>,
    input: UpdateReactor,
    held?: ReactorFormula,
  ) {
    const { tenantId, formulaId } = reactor;
    // Locks the formula against change and deletion for the rest of the transaction.
    const formula =
      held ??
      (await manager.findOne(ReactorFormula, {
        where: { id: formulaId, tenantId },
        lock: { mode: 'for_key_share' },
      }));
    const configuration = toConfiguration(input.configuration);
    const { application, applicationId, errors } = await usableApplication(
      manager,
      author,
      input,
      reactor.applicationId,
    );
    Object.assign(
      errors,
      formula
        ? configurationErrors(formula.configuration, configuration)
        : { 'formula.id': ['must be a formula of the tenant'] },
    );
    if (input.formula && input.formula.id.toLowerCase() !== formulaId) {
      errors['formula.id'] = ['must be left out or the same: a reactor keeps its formula'];
    }
    if (!formula || Object.keys(errors).length > 0) throw invalid(errors);
    const { sealer } = this.ctx;
    const columns = {
      name: input.name,
      applicationId,
      configuration: await sealConfiguration(sealer, configurationPlace(reactor), configuration),
      isolation: input.isolation ?? 'warm',
    };
    return { columns, formula, configuration, application };
  }

  /** Returns undefined if the formula was deleted after the reactor was read. */
  async #show(
    principal: Principal,
    reactor: Reactor,
    formulas: ReadonlyMap<string, ReactorFormula>,
  ): Promise<ShownReactor | undefined> {
    const formula = formulas.get(reactor.formulaId);
    if (!formula) return undefined;
    const configuration = await this.configurationOf(reactor);
    return shownTo(principal, toReactorResponse(reactor, { formula, configuration }, 'read'));
  }

  configurationOf(reactor: Reactor): Promise<Configuration> {
    const place = configurationPlace(reactor);
    return openConfiguration(this.ctx.sealer, place, reactor.configuration);
  }
}

/** Each reactor shows its formula, without the code. */
const formulaBytes = `(SELECT coalesce(octet_length(f.description), 0) + coalesce(octet_length(f.icon), 0)
    + octet_length(CAST(f.configuration AS text)) + octet_length(CAST(f.request_parameters AS text))
  FROM reactor_formulas f WHERE f.tenant_id = w.tenant_id AND f.id = w.formula_id)`;

async function formulasOf(
  manager: EntityManager,
  tenantId: string,
  reactors: readonly Reactor[],
): Promise<Map<string, ReactorFormula>> {
  const ids = [...new Set(reactors.map(({ formulaId }) => formulaId))];
  if (ids.length === 0) return new Map();
  const found = await manager.findBy(ReactorFormula, { tenantId, id: In(ids) });
  return new Map(found.map((formula) => [formula.id, formula]));
}

export function configurationPlace({ id, tenantId }: Pick<Reactor, 'id' | 'tenantId'>): Place {
  return { table: 'reactors', column: 'configuration', tenantId, record: id };
}

function toReactorDefinition(reactor: Reactor, configuration: Configuration): ReactorDefinition {
  const { id, tenantId, formulaId, applicationId, isolation } = reactor;
  return { kind: 'reactor', id, tenantId, formulaId, applicationId, configuration, isolation };
}
