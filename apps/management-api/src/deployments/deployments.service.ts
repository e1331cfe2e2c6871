import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { holds, type Actor } from '@glovebox/access';
import type { CursorQuery, Sql } from '@glovebox/database';
import { notFound, Problem } from '@glovebox/problems';
import { change, type Author, type ChangeOutcome } from '../changes/change';
import { Context, type ManagementContext } from '../context';
import { asSql, eachInTenant } from '../database/in-tenant';
import { tagOf } from '../http/entity-tags';
import { toCursorPage } from '../lists/cursor';
import { rowsOf, type Page } from '../lists/page';
import { ProxiesService } from '../proxies/proxies.service';
import { ReactorFormulasService } from '../reactor-formulas/reactor-formulas.service';
import { ReactorsService } from '../reactors/reactors.service';
import { requireId } from '../runs/runs.service';
import {
  deployedBy,
  idAfter,
  keepDeployment,
  newestDeployed,
  newestOf,
  prunedSince,
  type Deployed,
} from './deployed-set';
import { findDeployment, listDeployments, toDetails, toShown } from './find-deployments';
import { PuttingInForce, type Putting } from './putting-in-force';
import { readItem, readItems, type Wanted } from './read-items';
import type {
  CreateDeployment,
  DeploymentDetails,
  DeploymentResponse,
  RollbackInput,
} from './deployments.dto';

/** What is to be put in force, and whose files have it. */
interface Asked {
  readonly project: string | undefined;
  readonly wanted: readonly Wanted[];
}

/** What was written is taken back: it was asked for in order to see what it would be. */
class TakenBack extends Error {
  constructor(readonly result: DeploymentResponse) {
    super('A dry run');
  }
}

interface Deploying {
  readonly input: RollbackInput;
  readonly prune: boolean;
  readonly rollbackOf: string | null;
  /** Reads what is wanted, under the lock of the tenant's deployments. */
  readonly asked: (sql: Sql) => Promise<Asked>;
}

@Injectable()
export class DeploymentsService {
  constructor(
    @Context() private readonly ctx: ManagementContext,
    private readonly formulas: ReactorFormulasService,
    private readonly reactors: ReactorsService,
    private readonly proxies: ProxiesService,
  ) {}

  /** Puts a set of resources in force: all of it at once, or nothing. */
  async deploy(actor: Actor, author: Author, input: CreateDeployment): Promise<DeploymentResponse> {
    const wanted = await readItems(input.items);
    return this.#put(actor, author, {
      ...{ input, prune: input.prune ?? false, rollbackOf: null },
      asked: () => Promise.resolve({ project: input.project, wanted }),
    });
  }

  /** Puts in force what a deployment had put in force. */
  async rollback(
    actor: Actor,
    author: Author,
    deploymentId: string,
    input: RollbackInput,
  ): Promise<DeploymentResponse> {
    const id = requireId(deploymentId, 'deployment');
    const { sealer } = this.ctx;
    return this.#put(actor, author, {
      ...{ input, prune: true, rollbackOf: id },
      asked: async (sql) => {
        const { project, items } = await deployedBy(sql, sealer, author.tenantId, id);
        await refuseOtherNewest(sql, author.tenantId, project, input.newest_id);
        const pruned = await prunedSince(sql, author.tenantId, id);
        return { project, wanted: items.map((item) => toWanted(item, pruned.has(item.id))) };
      },
    });
  }

  async list({ principal: { tenantId } }: Actor, query: CursorQuery): Promise<Page> {
    const rows = await listDeployments(
      eachInTenant(this.ctx.dataSource, tenantId),
      tenantId,
      query,
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return toCursorPage(query, [...byId.keys()], (ids) =>
      rowsOf(
        ids,
        (portion) => Promise.resolve(portion.ids.flatMap((id) => byId.get(id) ?? [])),
        toShown,
      ),
    );
  }

  async get({ principal: { tenantId } }: Actor, deploymentId: string): Promise<DeploymentDetails> {
    const id = requireId(deploymentId, 'deployment');
    const row = await findDeployment(eachInTenant(this.ctx.dataSource, tenantId), tenantId, id);
    if (!row) throw notFound('deployment');
    return toDetails(row);
  }

  async #put(actor: Actor, author: Author, deploying: Deploying): Promise<DeploymentResponse> {
    const isDry = deploying.input.dry_run ?? false;
    // Nothing is stored of a dry run, so its outcome cannot be either.
    const by = isDry ? { ...author, claim: undefined } : author;
    try {
      return await change(this.ctx, by, 'create', async (manager) => {
        const outcome = await this.#inForce(manager, actor, author, deploying);
        if (isDry) throw new TakenBack(outcome.result);
        return outcome;
      });
    } catch (error) {
      if (error instanceof TakenBack) return error.result;
      throw error;
    }
  }

  async #inForce(
    manager: EntityManager,
    actor: Actor,
    author: Author,
    { input, prune, rollbackOf, asked }: Deploying,
  ): Promise<ChangeOutcome<DeploymentResponse>> {
    const { tenantId } = author;
    const { sealer, keyHash } = this.ctx;
    const sql = asSql(manager);
    await holdDeployments(sql, tenantId);
    const newest = await newestDeployed(sql, sealer, tenantId);
    const { project, wanted } = await asked(sql);
    const { formulas, reactors, proxies } = this;
    const putting: Putting = {
      ...{ formulas, reactors, proxies, manager, author, project, deployed: newest.items },
      tagOf: ({ id, version }) => tagOf(keyHash, id, version),
      isForced: input.force ?? false,
      mayGrant: holds(actor.principal, 'application:update'),
    };
    const set = await PuttingInForce.begin(putting, wanted);
    await set.put();
    if (prune) await set.prune();
    set.refuseTooMany();
    set.refuseConflicts(actor.principal);
    const { items, changes, definitions, deletions, formerCode, lines } = set.done();
    const shown = input.dry_run ? changes : changes.map(({ etag: _, ...rest }) => rest);
    if (changes.every((one) => one.change === 'unchanged') && set.leavesDeployed) {
      const before = input.dry_run ? undefined : await newestOf(sql, tenantId, project);
      return { result: { ...(before === undefined ? {} : { id: before }), changes: shown } };
    }
    const id = idAfter(newest.id);
    const codes = await keepDeployment(sql, sealer, {
      ...{ id, tenantId, project, rollbackOf, changes: shown, items },
      message: input.message ?? null,
      createdBy: author.actorId,
      traceId: author.traceId,
    });
    const operation = rollbackOf === null ? 'deployment.create' : 'deployment.rollback';
    const said = input.message === undefined ? {} : { reason: input.message };
    return {
      result: input.dry_run ? { changes: shown } : { id, changes: shown },
      ...{ definitions, deletions },
      formerCode: [...formerCode, ...codes.map((code) => ({ code }))],
      lines: [...lines, { operation, entityType: 'deployment', entityIds: [id], ...said }],
    };
  }
}

/** Most deployments have ended by then, and all by the third time that our clients come back. */
const retryAfterSeconds = 10;

/** One deployment of a tenant at a time. The next one must see what this one does. */
async function holdDeployments(sql: Sql, tenantId: string): Promise<void> {
  const [row] = await sql.query<{ held: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('deployments of ' || $1, 0)) AS held`,
    [tenantId],
  );
  if (row?.held) return;
  throw new Problem('share_exhausted', {
    detail: 'Another deployment of the tenant is under way. Nothing was changed: repeat it.',
    retryAfterSeconds,
  });
}

/** A rollback that somebody has decided on by a list is not to undo what was deployed after it was read. */
async function refuseOtherNewest(
  sql: Sql,
  tenantId: string,
  project: string | undefined,
  known: string | undefined,
): Promise<void> {
  if (known === undefined || known.toLowerCase() === (await newestOf(sql, tenantId, project)))
    return;
  throw new Problem('deployment_conflict', {
    detail: 'Another deployment of the project has been made meanwhile. Nothing was changed.',
  });
}

/** Whoever deletes a proxy by hand may do so because its key has become known. */
function toWanted(
  { kind, slug, id, formulaId, key, document }: Deployed,
  isPruned: boolean,
): Wanted {
  const place = `${kind}.${slug}`;
  const dto = readItem({ ...document, kind, slug });
  return { place, slug, dto, former: { id, formulaId, key: isPruned ? key : undefined } };
}
