import type { Actor } from '@glovebox/access';
import { Injectable } from '@nestjs/common';
import type { Sql } from '@glovebox/database';
import { Problem, problemCatalogue, type ProblemCode } from '@glovebox/problems';
import { linesPlace, runPlace, webhookPlace } from '@glovebox/reactors';
import type { LogLine } from '@glovebox/sandbox';
import { Context, type ManagementContext } from '../context';
import { eachInTenant } from '../database/in-tenant';
import { toCursorPage } from '../lists/cursor';
import { rowsOf, type Page, type Portion } from '../lists/page';
import { queryPortion } from '../lists/portion';
import { isUuid } from '../validation/uuid';
import {
  findResult,
  findRun,
  listStatement,
  runsById,
  webhookOfRun,
  type ResultRow,
} from './run-rows';
import { toRunResponse, type RunDetails, type RunQuery, type RunRow } from './runs.dto';

/** The result of an async run, as its application asks for it. */
export type RunResult =
  | { status: 'pending' }
  | { status: 'completed'; result: unknown }
  | { status: 'failed'; error: unknown };

@Injectable()
export class RunsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async list({ principal: { tenantId } }: Actor, query: RunQuery): Promise<Page> {
    const { searches } = this.ctx;
    const { text, values } = listStatement(tenantId, query);
    const found = await searches.list(tenantId, (sql) => sql.query<{ id: string }>(text, values));
    const read = (portion: Portion): Promise<RunRow[]> =>
      searches.list(tenantId, (sql) =>
        queryPortion(sql, portion, runsById, { idType: 'uuid', values: [tenantId] }),
      );
    const ids = found.map(({ id }) => id);
    return toCursorPage(query, ids, (shown) => rowsOf(shown, read, toRunResponse));
  }

  /** A run of another resource is not found. */
  async getOf(actor: Actor, resourceId: string, runId: string): Promise<RunDetails> {
    const run = await this.get(actor, runId);
    if (run.resource_id !== resourceId.toLowerCase()) throw new Problem('not_found');
    return run;
  }

  async get(actor: Actor, runId: string): Promise<RunDetails> {
    const { tenantId } = actor.principal;
    const id = requireId(runId);
    const sql = this.#statements(actor);
    const row = await findRun(sql, tenantId, id);
    if (!row) throw new Problem('not_found');
    const webhook = row.mode === 'async' ? await webhookOfRun(sql, tenantId, id) : undefined;
    const lines = await this.#linesOf(tenantId, row);
    return { ...toRunResponse(row), lines, ...(webhook ? { webhook } : {}) };
  }

  /** The result of a run that the caller started. */
  async result(actor: Actor, reactorId: string, requestId: string): Promise<RunResult> {
    const { tenantId, applicationId } = actor.principal;
    const id = requireId(requestId);
    const run = { tenantId, applicationId, reactorId, id };
    const row = await findResult(this.#statements(actor), run);
    if (!row) throw new Problem('not_found');
    const { status } = row;
    if (status === 'pending' || status === 'running') return { status: 'pending' };
    const body = await this.#resultOf(tenantId, id, row);
    return status === 'completed' ? { status, result: body } : { status: 'failed', error: body };
  }

  async #resultOf(tenantId: string, id: string, row: ResultRow): Promise<unknown> {
    const { sealer } = this.ctx;
    const { body, ownResult, outcome } = row;
    const opened = body
      ? await sealer.open(webhookPlace(tenantId, id, 'body'), body)
      : ownResult && (await sealer.open(runPlace(tenantId, id, 'result'), ownResult));
    if (opened) return JSON.parse(opened.toString('utf8')) as unknown;
    // A run whose callback URL did not open has no webhook.
    if (row.status === 'failed' && isProblemCode(outcome)) return new Problem(outcome).body();
    throw new Problem('not_found');
  }

  async #linesOf(
    tenantId: string,
    { id, lines }: { readonly id: string; readonly lines: Buffer | null },
  ): Promise<RunDetails['lines']> {
    if (lines === null) return [];
    const opened = await this.ctx.sealer.open(linesPlace(tenantId, id), lines);
    const read = JSON.parse(opened.toString('utf8')) as LogLine[];
    return read.map(({ at, level, text }) => ({ at: new Date(at).toISOString(), level, text }));
  }

  #statements({ principal }: Actor): Sql {
    return eachInTenant(this.ctx.dataSource, principal.tenantId);
  }
}

function requireId(id: string): string {
  if (!isUuid(id)) throw new Problem('not_found');
  return id.toLowerCase();
}

const isProblemCode = (outcome: string | null): outcome is ProblemCode =>
  outcome !== null && Object.hasOwn(problemCatalogue, outcome);
