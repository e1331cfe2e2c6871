import type { Actor } from '@glovebox/access';
import { Injectable } from '@nestjs/common';
import type { Sql } from '@glovebox/database';
import { notFound, Problem, problemCatalogue, type ProblemCode } from '@glovebox/problems';
import {
  findResult,
  findRun,
  findRunIds,
  readResult,
  runsById,
  textPlace,
  webhookOfRun,
  webhookPlace,
  type ResultRow,
  type RunReason,
  type RunQuery,
  type RunRow,
  type WholeRunRow,
} from '@glovebox/runs';
import type { LogLine } from '@glovebox/sandbox';
import { requireShown } from '@glovebox/vault';
import { atSources } from '../code/shown-places';
import { codeOfRun, type CodeOfRun } from './code-of-run';
import { Context, type ManagementContext } from '../context';
import { eachInTenant } from '../database/in-tenant';
import { toCursorPage } from '../lists/cursor';
import { rowsOf, type Page, type Portion } from '../lists/page';
import { queryPortion } from '../lists/portion';
import { isUuid } from '../validation/uuid';
import { toRunDetails, toRunResponse, type RunDetails } from './runs.dto';

@Injectable()
export class RunsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async list({ principal: { tenantId } }: Actor, query: RunQuery): Promise<Page> {
    const { searches } = this.ctx;
    const ids = await searches.list(tenantId, (sql) => findRunIds(sql, tenantId, query));
    const read = (portion: Portion): Promise<RunRow[]> =>
      searches.list(tenantId, (sql) =>
        queryPortion(sql, portion, runsById, { idType: 'uuid', values: [tenantId] }),
      );
    return toCursorPage(query, ids, (shown) => rowsOf(shown, read, toRunResponse));
  }

  /** A run of another resource is not found. */
  async getOf(actor: Actor, resourceId: string, runId: string): Promise<RunDetails> {
    const run = await this.get(actor, runId);
    if (run.resource_id !== resourceId.toLowerCase()) throw notFound('run');
    return run;
  }

  async get(actor: Actor, runId: string): Promise<RunDetails> {
    const { tenantId } = actor.principal;
    const id = requireId(runId, 'run');
    const sql = this.#statements(actor);
    const row = await findRun(sql, tenantId, id);
    if (!row) throw notFound('run');
    const webhook = row.mode === 'async' ? await webhookOfRun(sql, tenantId, id) : undefined;
    const [lines, reason, code] = await Promise.all([
      this.#linesOf(tenantId, row),
      this.#reasonOf(tenantId, row),
      this.#codeOf(actor, row),
    ]);
    const told = { ...reason, lines, position: row.position ?? undefined };
    const { sealer } = this.ctx;
    const { position, ...shown } = await atSources({ sql, sealer, tenantId }, row.codeId, told);
    return toRunDetails({ ...row, position: position ?? null }, { ...shown, webhook, code });
  }

  /**
   * The result of a run that the caller started, as JSON: a stored answer is never parsed. To read it
   * is to use its data. A large one waits for its turn.
   */
  async result(actor: Actor, reactorId: string, requestId: string): Promise<Buffer> {
    const { tenantId, actorId: applicationId } = actor.principal;
    const id = requireId(requestId, 'result');
    const run = { tenantId, applicationId, reactorId, id };
    const row = await findResult(this.#statements(actor), run);
    if (!row) throw notFound('result');
    const { status } = row;
    if (['pending', 'running', 'held'].includes(status)) return Buffer.from('{"status":"pending"}');
    const { largeOpenings } = this.ctx.vault;
    const answer = await (row.isLarge
      ? largeOpenings.hold(tenantId, () => this.#largeAnswerOf(actor, id, row))
      : this.#answerOf(actor, id, row));
    const member = status === 'completed' ? 'result' : 'error';
    const head = Buffer.from(`{"status":"${status}","${member}":`);
    return Buffer.concat([head, answer, Buffer.from('}')]);
  }

  async #largeAnswerOf(actor: Actor, id: string, row: ResultRow): Promise<Buffer> {
    const body = await readResult(this.#statements(actor), actor.principal.tenantId, id);
    return this.#answerOf(actor, id, { ...row, body });
  }

  async #answerOf(actor: Actor, id: string, row: ResultRow): Promise<Buffer> {
    await this.#requireShown(actor, id, row);
    const { outcome, body } = row;
    const place = webhookPlace(actor.principal.tenantId, id, 'body');
    if (body) return this.ctx.sealer.open(place, body);
    // A run whose callback URL did not open has no webhook.
    if (isProblemCode(outcome)) return Buffer.from(JSON.stringify(new Problem(outcome).body()));
    throw notFound('result');
  }

  async #requireShown(actor: Actor, id: string, row: ResultRow): Promise<void> {
    const { outcome, httpStatus, endedAt: at, hasWebhook, body } = row;
    const { tenantId, actorId } = actor.principal;
    const definitions = await this.ctx.definitions.follower.current();
    const line = { operation: 'result.read', entityType: 'run', traceId: actor.traceId };
    await requireShown(
      this.#statements(actor),
      {
        use: { tenantId, actorId, ...line },
        principalOf: (application) => definitions.principal(tenantId, application),
      },
      {
        entityId: id,
        sights: hasWebhook ? row.sights : [],
        isErased: hasWebhook && body === null,
      },
      { outcome, httpStatus, at, runId: id },
    );
  }

  async #linesOf(tenantId: string, { id, lines }: WholeRunRow): Promise<readonly LogLine[]> {
    if (lines === null) return [];
    const opened = await this.ctx.sealer.open(textPlace(tenantId, id, 'lines'), lines);
    return JSON.parse(opened.toString('utf8')) as LogLine[];
  }

  async #reasonOf(tenantId: string, { id, reason }: WholeRunRow): Promise<RunReason> {
    if (reason === null) return {};
    const opened = await this.ctx.sealer.open(textPlace(tenantId, id, 'reason'), reason);
    return JSON.parse(opened.toString('utf8')) as RunReason;
  }

  /** Only for callers who may read the code where it is in force. */
  async #codeOf(actor: Actor, run: WholeRunRow): Promise<CodeOfRun> {
    const { permissions, tenantId } = actor.principal;
    if (!permissions.includes(run.kind === 'reactor' ? 'reactor:read' : 'proxy:read')) return {};
    return codeOfRun(this.#statements(actor), this.ctx.sealer, tenantId, run);
  }

  #statements({ principal }: Actor): Sql {
    return eachInTenant(this.ctx.dataSource, principal.tenantId);
  }
}

export function requireId(id: string, noun: string): string {
  if (!isUuid(id)) throw notFound(noun);
  return id.toLowerCase();
}

const isProblemCode = (outcome: string): outcome is ProblemCode =>
  Object.hasOwn(problemCatalogue, outcome);
