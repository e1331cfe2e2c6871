import type { Actor } from '@glovebox/access';
import { record } from '@glovebox/database';
import { storeOutcome, type Claim } from '@glovebox/idempotency';
import { notFound, Problem } from '@glovebox/problems';
import { checkArguments, findReactor } from '@glovebox/reactors';
import {
  findRun,
  insertRun,
  openKeptRun,
  recordRepetition,
  type KeptRun,
  type RunRow,
} from '@glovebox/runs';
import { Injectable } from '@nestjs/common';
import { Context, type ManagementContext } from '../context';
import { asSql, eachInTenant, inTenant } from '../database/in-tenant';
import { requireId } from './runs.service';
import type { RerunInput, RerunResponse } from './runs.dto';

/**
 * Accepts a failed run once more: with the arguments of then, the code of now and the rights of
 * whoever repeats it. Whose run it was decides nothing.
 */
@Injectable()
export class RerunService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async rerun(
    { principal: caller, traceId }: Actor,
    runId: string,
    { callback = false }: RerunInput,
    claim: Claim | undefined,
  ): Promise<RerunResponse> {
    const { tenantId, actorId } = caller;
    const { dataSource, sealer, config, definitions, vault } = this.ctx;
    const sql = eachInTenant(dataSource, tenantId);
    const id = requireId(runId, 'run');
    const run = await findRun(sql, tenantId, id);
    if (!run) throw notFound('run');
    requireFailed(run);
    const kept = await openKeptRun(sql, sealer, { tenantId, id });
    if (!kept) throw gone(run);
    const callbackUrl = callback ? requireCallback(kept) : '';
    const { reactorId, args, timeoutMs } = kept;
    const { reactor, formula } = reactorIn(await definitions.follower.current(), tenantId, kept);
    const tokenIds = await checkArguments({ vault }, { reactor, formula, caller, args, traceId });
    const again = { tenantId, reactorId, actorId, args, callbackUrl, timeoutMs, traceId };
    return inTenant(dataSource, tenantId, async (manager) => {
      const one = asSql(manager);
      const requestId = await insertRun(one, sealer, again, config.RUNS_PENDING_MAX);
      await recordRepetition(one, { tenantId, id: requestId, of: id });
      await record(one, {
        ...{ tenantId, actorId, traceId, entityId: id },
        ...{ operation: 'run.rerun', entityType: 'run', outcome: 'success' },
      });
      const answer = answerOf(requestId, again, tokenIds);
      await storeOutcome(one, sealer, claim, answer);
      return answer;
    });
  }
}

type Definitions = Awaited<ReturnType<ManagementContext['definitions']['follower']['current']>>;

function reactorIn(definitions: Definitions, tenantId: string, { reactorId }: KeptRun) {
  try {
    return findReactor(definitions, tenantId, reactorId);
  } catch (error) {
    const isGone = error instanceof Problem && error.code === 'not_found';
    throw isGone ? conflict('The reactor of the run is gone.') : error;
  }
}

function requireFailed({ mode, status }: RunRow): void {
  if (mode !== 'async') throw conflict('Only a run in the background can be repeated.');
  if (status === 'completed') throw conflict('The run has not failed.');
  if (status !== 'failed') throw conflict('The run has not ended.');
}

function requireCallback({ callbackUrl }: KeptRun): string {
  if (callbackUrl !== '') return callbackUrl;
  throw conflict('The run was a repetition without its callback: repeat the one before it.');
}

const conflict = (detail: string): Problem => new Problem('conflict', { detail });

function gone({ id, outcome, httpStatus, endedAt }: RunRow): Problem {
  const ended =
    outcome === null || httpStatus === null || endedAt === null
      ? undefined
      : { outcome, httpStatus, at: endedAt, runId: id };
  return new Problem('data_gone', {
    detail: 'The arguments of the run are not kept, or not any more.',
    ...(ended ? { ended } : {}),
  });
}

function answerOf(
  requestId: string,
  { reactorId, callbackUrl }: { readonly reactorId: string; readonly callbackUrl: string },
  tokenIds: readonly string[],
): RerunResponse {
  const host = callbackUrl === '' ? undefined : new URL(callbackUrl).hostname;
  const tokens = tokenIds.length === 1 ? '1 token is' : `${tokenIds.length} tokens are`;
  return {
    async_request_id: requestId,
    asyncReactorRequestId: requestId,
    again: {
      reactor_id: reactorId,
      token_ids: tokenIds.slice(0, shownTokensMax),
      ...(host === undefined ? {} : { callback_host: host }),
      says: [
        'The code of now runs on the arguments of then.',
        'What the code did elsewhere before it failed, it may do a second time.',
        ...(tokenIds.length === 0 ? [] : [`${tokens} used anew, by the rights of the caller.`]),
        host === undefined
          ? 'No webhook is sent, and the result is not kept.'
          : `The result is sent to ${host}, as another webhook.`,
      ],
    },
  };
}

const shownTokensMax = 100;
