import { randomUUID } from 'node:crypto';
import { requirePermission, type Actor } from '@glovebox/access';
import { record, type Sql } from '@glovebox/database';
import type { DryRunOrder, ProxyRehearsal, ReactorRehearsal } from '@glovebox/dry-runs';
import { invalid, Problem } from '@glovebox/problems';
import { isJsonObject } from '@glovebox/wire';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { usableApplication } from '../applications/usable-application';
import { requireBundles } from '../code/stored-code';
import { configurationErrors, openConfiguration, toConfiguration } from '../code/configuration';
import { Context, type ManagementContext } from '../context';
import { asSql, eachInTenant, inTenant } from '../database/in-tenant';
import { Proxy } from '../entities/proxy.entity';
import { Reactor } from '../entities/reactor.entity';
import { ReactorFormula } from '../entities/reactor-formula.entity';
import type { Resource } from '../entities/resource.entity';
import { withKeptValues, withoutKept } from '../proxies/kept-values';
import { ProxiesService } from '../proxies/proxies.service';
import { toFormulaInput, type FormulaInput } from '../reactor-formulas/reactor-formulas.dto';
import {
  ReactorFormulasService,
  toFormulaDefinition,
} from '../reactor-formulas/reactor-formulas.service';
import { configurationPlace } from '../reactors/reactors.service';
import {
  RehearsedProxy,
  toHeaderLines,
  type RehearsedFormula,
  type RehearseProxy,
  type RehearseReactor,
} from './dry-runs.dto';
import { answerAtSources } from './answer-at-sources';
import type { Waiting } from './hand-over';

const argumentBytesMax = 1024 * 1024;

/**
 * Checks a dry run as if its document were to be stored, and records it. A gateway then carries it
 * out: it has the runners, and the code of real calls (docs/adr/0099).
 */
@Injectable()
export class DryRunsService {
  constructor(
    @Context() private readonly ctx: ManagementContext,
    private readonly formulas: ReactorFormulasService,
    private readonly proxies: ProxiesService,
  ) {}

  async reactor(
    { principal: caller, traceId }: Actor,
    input: RehearseReactor,
    waiting: Waiting,
  ): Promise<Buffer> {
    const { reactor: given = {}, network = false, svc = false, inspect } = input;
    // Its code would read as the application, at the word of who changes it.
    if (svc) requirePermission(caller, 'token:use');
    const args = toArguments(input.args);
    const { tenantId } = caller;
    const order = await inTenant(this.ctx.dataSource, tenantId, async (manager) => {
      const stored = await find(manager, Reactor, tenantId, input.reactor_id);
      const formula = await this.#formulaOf(manager, tenantId, given.formula, stored?.formulaId);
      const configuration = given.configuration
        ? toConfiguration(given.configuration)
        : stored && (await this.#configurationOf(stored));
      const current = stored?.applicationId ?? null;
      const named = await usableApplication(manager, { tenantId }, given, current);
      const applicationId = named.applicationId ?? current;
      const errors = {
        ...configurationErrors(formula.configuration, configuration ?? {}),
        ...named.errors,
        ...(svc && applicationId === null ? { svc: ['needs an application'] } : {}),
        ...inspectionErrors(inspect, {
          svc: [svc, 'is not for a run that a debugger sees'],
          configuration: [
            !given.configuration && Object.keys(configuration ?? {}).length > 0,
            giveValues,
          ],
        }),
      };
      if (Object.keys(errors).length > 0) throw invalid(inReactor(errors));
      const id = stored?.id ?? randomUUID();
      const made: ReactorRehearsal = {
        ...{ kind: 'reactor', id: randomUUID(), caller, traceId, args, network, svc },
        ...(inspect === undefined ? {} : { inspect: inspect.toLowerCase() }),
        configurationOf: given.configuration || !stored ? null : stored.id,
        reactor: {
          ...{ kind: 'reactor', id, tenantId, formulaId: formula.id, applicationId },
          ...{ configuration: given.configuration ? (configuration ?? {}) : {}, isolation: 'run' },
        },
        formula: toFormulaDefinition(formula),
      };
      await audit(asSql(manager), made);
      return made;
    });
    return this.#carryOut(order, waiting);
  }

  async proxy(
    { principal: caller, traceId }: Actor,
    input: RehearseProxy,
    waiting: Waiting,
  ): Promise<Buffer> {
    const { tenantId } = caller;
    const { method = 'POST', path = '', query = '', ...request } = input.request;
    const { status = 200, ...answer } = input.answer ?? {};
    const { inspect } = input;
    const messages: Pick<ProxyRehearsal, 'request' | 'answer'> = {
      request: {
        ...{ method, suffix: path === '/' ? '' : path, query },
        headers: toHeaderLines(request.headers, 'request.headers'),
        body: request.body ?? null,
      },
      answer: input.answer
        ? {
            status,
            headers: toHeaderLines(answer.headers, 'answer.headers'),
            body: answer.body ?? null,
          }
        : null,
    };
    const order = await inTenant(this.ctx.dataSource, tenantId, async (manager) => {
      const stored = await find(manager, Proxy, tenantId, input.proxy_id);
      const id = stored?.id ?? randomUUID();
      const isStored = stored !== undefined && !input.proxy?.configuration;
      const document = input.proxy ?? new RehearsedProxy();
      const { lists, kept } = stored
        ? withKeptValues(document, await this.proxies.stepsOf(stored))
        : { lists: {}, kept: [] };
      const errors = inspectionErrors(inspect, {
        'proxy.configuration': [isStored && stored.configuration !== null, giveValues],
        proxy: [kept.length > 0, `${giveValues}, also those of its steps`],
      });
      if (Object.keys(errors).length > 0) throw invalid(errors);
      Object.assign(document, lists);
      const unsaved = this.proxies.unsaved({ id, tenantId }, document, 'proxy.');
      await requireBundles(asSql(manager), tenantId, [
        ['proxy.request_transform.', document.request_transform ?? null],
        ['proxy.response_transform.', document.response_transform ?? null],
      ]);
      const made: ProxyRehearsal = {
        ...{ kind: 'proxy', id: randomUUID(), caller, traceId, ...messages, kept },
        ...(inspect === undefined ? {} : { inspect: inspect.toLowerCase() }),
        configurationOf: isStored ? id : null,
        proxy: withoutKept(unsaved, kept),
      };
      await audit(asSql(manager), made);
      return made;
    });
    return this.#carryOut(order, waiting);
  }

  async #carryOut(order: DryRunOrder, waiting: Waiting): Promise<Buffer> {
    const { tenantId } = order.caller;
    const answer = await this.ctx.dryRuns.carryOut(order, waiting);
    const sql = eachInTenant(this.ctx.dataSource, tenantId);
    return answerAtSources({ sql, sealer: this.ctx.sealer, tenantId }, order, answer);
  }

  /** What the document leaves out is as in the stored formula, if there is one. */
  async #formulaOf(
    manager: EntityManager,
    tenantId: string,
    { id, ...given }: RehearsedFormula = {},
    storedId: string | undefined,
  ): Promise<ReactorFormula> {
    const formulaId = id?.toLowerCase() ?? storedId;
    const stored = await find(manager, ReactorFormula, tenantId, formulaId, 'reactor.formula.id');
    const changes = Object.entries(given).filter(([, value]) => value !== undefined);
    const input: Partial<FormulaInput> = {
      ...(stored && toFormulaInput(stored)),
      ...Object.fromEntries(changes),
    };
    if (given.code !== undefined) delete input.code_sha256;
    if (given.code_sha256 !== undefined) delete input.code;
    if (!input.code && !input.code_sha256) {
      throw invalid({ 'reactor.formula.code': ['is required without a stored formula'] });
    }
    const row = { id: stored?.id ?? randomUUID(), tenantId };
    const document = { name: 'dry run', ...input };
    await requireBundles(asSql(manager), tenantId, [['reactor.formula.', document]]);
    return this.formulas.unsaved(row, document, 'reactor.formula.');
  }

  #configurationOf(reactor: Reactor) {
    return openConfiguration(this.ctx.sealer, configurationPlace(reactor), reactor.configuration);
  }
}

function toArguments(args: unknown = {}): ReactorRehearsal['args'] {
  if (!isJsonObject(args) && typeof args !== 'string') {
    throw invalid({ args: ['must be an object'] });
  }
  if (Buffer.byteLength(JSON.stringify(args)) <= argumentBytesMax) return args;
  throw new Problem('payload_too_large', {
    detail: `The arguments are limited to ${argumentBytesMax} bytes.`,
  });
}

async function find<Entity extends typeof Reactor | typeof Proxy | typeof ReactorFormula>(
  manager: EntityManager,
  entity: Entity,
  tenantId: string,
  id: string | undefined,
  member = `${entity.noun}_id`,
): Promise<InstanceType<Entity> | undefined> {
  if (id === undefined) return undefined;
  const found = await manager.findOneBy<Resource>(entity, { id: id.toLowerCase(), tenantId });
  if (found) return found as InstanceType<Entity>;
  throw invalid({ [member]: [`must be a ${entity.noun} of the tenant`] });
}

const giveValues = 'is needed: a debugger sees no stored values';

/** The members that a run with a debugger may not have, which are told why. */
const inspectionErrors = (
  inspect: string | undefined,
  members: Readonly<Record<string, readonly [isWrong: boolean, why: string]>>,
): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, [isWrong, why]]) =>
      inspect !== undefined && isWrong ? [[name, [why]]] : [],
    ),
  );

const inReactor = (errors: Readonly<Record<string, string[]>>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(errors).map(([name, texts]) => [
      name === 'svc' ? name : `reactor.${name}`,
      texts,
    ]),
  );

/** Written before anything runs: nothing runs unrecorded. */
function audit(
  sql: Sql,
  { kind, traceId, caller, ...order }: ReactorRehearsal | ProxyRehearsal,
): Promise<void> {
  const { tenantId, actorId } = caller;
  return record(sql, {
    ...{ tenantId, actorId, traceId, outcome: 'success' },
    ...{ operation: `${kind}.dry_run`, entityType: kind },
    entityId: 'reactor' in order ? order.reactor.id : order.proxy.id,
  });
}
