import { requirePermission } from '@glovebox/access';
import { principalOf, type DefinitionSnapshot } from '@glovebox/definitions';
import { Problem, toProblem, type ProblemCode } from '@glovebox/problems';
import {
  faultsMax,
  findReactor,
  finishRun,
  invokeReactor,
  leaseSeconds,
  markStarted,
  openRun,
  releaseRun,
  renewRun,
  type ClaimedRun,
  type Decided,
  type ReleaseReason,
  type TakenRun,
} from '@glovebox/reactors';
import { describeError } from '@glovebox/service-host';
import type { WorkerContext } from './context';
import type { Ending } from './fair-queue';

/** Another worker has the run now: whatever this one still knows of it no longer counts. */
class Fenced extends Error {}

/**
 * The story of an async run that was claimed: run what the sync path runs, leave result and webhook
 * in one transaction. When the stores are away the lease ends by itself and the run starts over.
 * The end of a run waits for nothing that its tenant has under way; only its beginning does.
 */
export async function executeRun(ctx: WorkerContext, taken: TakenRun): Promise<Ending> {
  const run = await openRun(ctx.database, ctx.sealer, taken).catch((error: unknown) => {
    ctx.logger.warn({ error: describeError(error), runId: taken.id }, 'a run could not be opened');
  });
  if (!run) return 'later';
  const lost = new AbortController();
  const renewing = setInterval(
    () => {
      renewRun(ctx.database, run).then(
        (mine) => {
          if (!mine) lost.abort();
        },
        // The next renewal may get through; if none does, the lease ends and the fence decides.
        () => undefined,
      );
    },
    (leaseSeconds * 1_000) / 3,
  );
  try {
    const result = await resultOf(ctx, run, lost.signal);
    if (result.status === 'released') {
      await releaseRun(ctx.database, run, result.reason);
      return result.reason === 'later' ? 'later' : 'done';
    }
    await finishRun(ctx.database, ctx.sealer, run, result);
    return 'done';
  } catch (error) {
    if (!(error instanceof Fenced)) throw error;
    return 'done';
  } finally {
    clearInterval(renewing);
  }
}

type Result =
  | { readonly status: 'completed' | 'failed'; readonly body: string }
  | { readonly status: 'released'; readonly reason: ReleaseReason };

async function resultOf(ctx: WorkerContext, run: ClaimedRun, signal: AbortSignal): Promise<Result> {
  if (run.startedBefore) return failed(new Problem('run_interrupted'));
  if (run.faults >= faultsMax) return failed(new Problem('internal_error'));
  let codeStarted = false;
  try {
    const { args, timeoutMs, traceId } = run;
    const decide = async (): Promise<Decided> =>
      decisionOn(run, await ctx.definitions.follower.current());
    const response = await invokeReactor(ctx, {
      ...(await decide()),
      decideAnew: decide,
      args,
      timeoutMs,
      traceId,
      signal,
      beforeCode: async () => {
        if (!(await markStarted(ctx.database.of(run.tenantId), run))) throw new Fenced();
        codeStarted = true;
      },
    });
    return { status: 'completed', body: JSON.stringify(response) };
  } catch (error) {
    if (signal.aborted) throw new Fenced();
    if (error instanceof Fenced) throw error;
    if (error instanceof Problem && error.code === 'no_capacity') {
      return { status: 'released', reason: 'later' };
    }
    if (codeStarted) return failed(toProblem(error));
    if (error instanceof Problem && notYet.has(error.code)) {
      return { status: 'released', reason: 'later' };
    }
    if (error instanceof Problem) return failed(error);
    ctx.logger.warn({ error: describeError(error), runId: run.id }, 'a run could not start');
    return { status: 'released', reason: 'fault' };
  }
}

/** Nothing has run: the next try decides by what is there then. */
const notYet = new Set<ProblemCode>([
  'service_unavailable',
  'share_exhausted',
  'changed_meanwhile',
]);

function failed(problem: Problem): Result {
  return { status: 'failed', body: JSON.stringify(problem.body()) };
}

/**
 * Everything is looked at again: what was taken back since the 202 is refused now. Which key invoked is
 * known no more; an application that has none left invokes nothing.
 */
function decisionOn(run: ClaimedRun, definitions: DefinitionSnapshot): Decided {
  const { tenantId, actorId, reactorId } = run;
  definitions.requireReadable('application', actorId);
  const application = definitions.find('application', tenantId, actorId);
  const caller = application && principalOf(application);
  if (!caller || application.keys.length === 0) throw new Problem('invalid_api_key');
  requirePermission(caller, 'token:use');
  return { ...findReactor(definitions, tenantId, reactorId), caller };
}
