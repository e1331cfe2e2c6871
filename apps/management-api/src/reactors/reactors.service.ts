import type { Actor } from '@glovebox/access';
import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import type { ReactorDefinition } from '@glovebox/definitions';
import { invalid, Problem } from '@glovebox/problems';
import type { Place } from '@glovebox/seal';
import { usableApplication } from '../applications/usable-application';
import { change, type Author, type Changed } from '../changes/change';
import { changeRow } from '../changes/change-row';
import {
  configurationErrors,
  openConfiguration,
  sealConfiguration,
  toConfiguration,
  type Configuration,
} from '../code/configuration';
import { Context, type ManagementContext } from '../context';
import { inTenant, statementsInTenant } from '../database/in-tenant';
import { listRows, type ListQuery, type Page } from '../lists/listing';
import { ReactorFormula } from '../entities/reactor-formula.entity';
import { modifiedNow, newRow } from '../changes/created-and-modified';
import { patched, touches, type MergePatch } from '../validation/merge-patch';
import { Reactor } from '../entities/reactor.entity';
import {
  CreateReactor,
  toReactorInput,
  toReactorResponse,
  type ReactorResponse,
  type UpdateReactor,
} from './reactors.dto';

@Injectable()
export class ReactorsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async create(author: Author, input: CreateReactor): Promise<ReactorResponse> {
    return change(this.ctx, author, 'create', async (manager) => {
      const row = { ...newRow(author), formulaId: input.formula.id.toLowerCase() };
      const { columns, ...parts } = await this.#decide(manager, row, input);
      const reactor = manager.create(Reactor, { ...row, ...columns });
      await manager.insert(Reactor, reactor);
      return {
        result: toReactorResponse(reactor, parts, 'created'),
        definitions: [toReactorDefinition(reactor, parts.configuration)],
      };
    });
  }

  async list({ principal }: Actor, query: ListQuery): Promise<Page<ReactorResponse>> {
    const { tenantId } = principal;
    const { rows, pagination, formulas } = await inTenant(
      this.ctx.dataSource,
      tenantId,
      async (manager) => {
        const page = await listRows(manager, Reactor, tenantId, query);
        return { ...page, formulas: await formulasOf(manager, tenantId, page.rows) };
      },
    );
    return { pagination, data: await this.#show(rows, formulas) };
  }

  async show(reactor: Reactor): Promise<ReactorResponse> {
    const { tenantId } = reactor;
    const formulas = await statementsInTenant(this.ctx.dataSource, tenantId, (manager) =>
      formulasOf(manager, tenantId, [reactor]),
    );
    const [shown] = await this.#show([reactor], formulas);
    if (!shown) throw new Problem('not_found');
    return shown;
  }

  update(author: Author, id: string, input: UpdateReactor): Promise<ReactorResponse> {
    const row = { entity: Reactor, id };
    return changeRow(this.ctx, author, 'update', row, (manager, reactor) =>
      this.#replace(manager, author, reactor, input),
    );
  }

  async patch(author: Author, id: string, patch: MergePatch): Promise<void> {
    const row = { entity: Reactor, id };
    await changeRow(this.ctx, author, 'update', row, async (manager, reactor) => {
      const document = toReactorInput(reactor, await this.#configurationOf(reactor));
      const input = patched(CreateReactor, document, patch);
      if (!input) return { result: undefined };
      const kept = touches(patch, 'application') ? null : reactor.applicationId;
      return this.#replace(manager, author, reactor, input, kept);
    });
  }

  async remove(author: Author, id: string): Promise<void> {
    const row = { entity: Reactor, id };
    await changeRow(this.ctx, author, 'delete', row, async (manager, reactor) => {
      await manager.remove(reactor);
      return { result: undefined, deletions: [{ kind: 'reactor', id }] };
    });
  }

  async #replace(
    manager: EntityManager,
    author: Author,
    reactor: Reactor,
    input: UpdateReactor,
    keptApplicationId: string | null = null,
  ): Promise<Changed<ReactorResponse>> {
    const { columns, ...parts } = await this.#decide(manager, reactor, input, keptApplicationId);
    Object.assign(reactor, columns, modifiedNow(author));
    await manager.save(reactor);
    return {
      result: toReactorResponse(reactor, parts, 'read'),
      definitions: [toReactorDefinition(reactor, parts.configuration)],
    };
  }

  /**
   * The columns that a document sets and the resources that it refers to. Throws all its errors at
   * once.
   */
  async #decide(
    manager: EntityManager,
    reactor: Pick<Reactor, 'id' | 'tenantId' | 'formulaId'>,
    input: UpdateReactor,
    keptApplicationId: string | null = null,
  ) {
    const { tenantId, formulaId } = reactor;
    // Locks the formula against change and deletion for the rest of the transaction.
    const formula = await manager.findOne(ReactorFormula, {
      where: { id: formulaId, tenantId },
      lock: { mode: 'for_key_share' },
    });
    const configuration = toConfiguration(input.configuration);
    const { application, applicationId, errors } = await usableApplication(
      manager,
      tenantId,
      input.application,
      keptApplicationId,
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

  /** Omits reactors whose formula was deleted after the reactors were read. */
  async #show(
    reactors: readonly Reactor[],
    formulas: ReadonlyMap<string, ReactorFormula>,
  ): Promise<ReactorResponse[]> {
    const shown = reactors.map(async (reactor) => {
      const formula = formulas.get(reactor.formulaId);
      if (!formula) return [];
      const configuration = await this.#configurationOf(reactor);
      return [toReactorResponse(reactor, { formula, configuration }, 'read')];
    });
    return (await Promise.all(shown)).flat();
  }

  #configurationOf(reactor: Reactor): Promise<Configuration> {
    const place = configurationPlace(reactor);
    return openConfiguration(this.ctx.sealer, place, reactor.configuration);
  }
}

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

function configurationPlace({ id, tenantId }: Pick<Reactor, 'id' | 'tenantId'>): Place {
  return { table: 'reactors', column: 'configuration', tenantId, record: id };
}

function toReactorDefinition(reactor: Reactor, configuration: Configuration): ReactorDefinition {
  const { id, tenantId, formulaId, applicationId, isolation } = reactor;
  return { kind: 'reactor', id, tenantId, formulaId, applicationId, configuration, isolation };
}
