import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { ReactorDefinition } from '@glovebox/definitions';
import { invalid } from '@glovebox/problems';
import type { Place } from '@glovebox/seal';
import type { Actor } from '@glovebox/vault';
import { unusableApplication, usableApplication } from '../applications/usable-application';
import { authorOf, change } from '../change';
import {
  configurationErrors,
  openConfiguration,
  sealConfiguration,
  toConfiguration,
  type Configuration,
} from '../configuration';
import { Context, type ManagementContext } from '../context';
import { inTenant } from '../database/in-tenant';
import { ReactorFormula } from '../reactor-formulas/reactor-formula.entity';
import { Reactor } from './reactor.entity';
import {
  toCreatedReactorResponse,
  toReactorResponse,
  type CreateReactor,
  type ReactorResponse,
} from './reactors.dto';

@Injectable()
export class ReactorsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async create(actor: Actor, input: CreateReactor): Promise<ReactorResponse> {
    const author = authorOf(actor);
    return change(this.ctx, author, 'create', async (manager) => {
      const configuration = toConfiguration(input.configuration);
      const { formula, application } = await checkReferences(
        manager,
        author.tenantId,
        input,
        configuration,
      );
      const id = randomUUID();
      const place = configurationPlace(author.tenantId, id);
      const reactor = manager.create(Reactor, {
        id,
        tenantId: author.tenantId,
        name: input.name,
        formulaId: formula.id,
        applicationId: application?.id ?? null,
        configuration: await sealConfiguration(this.ctx.sealer, place, configuration),
        isolation: input.isolation ?? 'warm',
        createdBy: author.actorId,
        createdAt: new Date(),
        modifiedBy: null,
        modifiedAt: null,
      });
      await manager.insert(Reactor, reactor);
      return {
        result: toCreatedReactorResponse(reactor, { formula, configuration, application }),
        definitions: [toReactorDefinition(reactor, configuration)],
      };
    });
  }

  async show(reactor: Reactor): Promise<ReactorResponse> {
    const { id, tenantId, formulaId } = reactor;
    const [formula, configuration] = await Promise.all([
      inTenant(this.ctx.dataSource, tenantId, (manager) =>
        manager.findOneByOrFail(ReactorFormula, { id: formulaId, tenantId }),
      ),
      openConfiguration(this.ctx.sealer, configurationPlace(tenantId, id), reactor.configuration),
    ]);
    return toReactorResponse(reactor, { formula, configuration });
  }
}

async function checkReferences(
  manager: EntityManager,
  tenantId: string,
  input: CreateReactor,
  configuration: Configuration,
) {
  // The formula is locked against deletion for the rest of the transaction.
  const formula = await manager.findOne(ReactorFormula, {
    where: { id: input.formula.id.toLowerCase(), tenantId },
    lock: { mode: 'for_key_share' },
  });
  const application =
    input.application && (await usableApplication(manager, tenantId, input.application.id));
  const errors = {
    ...(formula
      ? configurationErrors(formula.configuration, configuration)
      : { 'formula.id': ['must be a formula of the tenant'] }),
    ...(input.application && !application ? { 'application.id': unusableApplication } : {}),
  };
  if (!formula || Object.keys(errors).length > 0) throw invalid(errors);
  return { formula, application };
}

function configurationPlace(tenantId: string, record: string): Place {
  return { table: 'reactors', column: 'configuration', tenantId, record };
}

function toReactorDefinition(reactor: Reactor, configuration: Configuration): ReactorDefinition {
  const { id, tenantId, formulaId, applicationId, isolation } = reactor;
  return { kind: 'reactor', id, tenantId, formulaId, applicationId, configuration, isolation };
}
