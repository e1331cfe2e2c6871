import { isRole, personPrincipal, requirePermission, type Principal } from '@glovebox/access';
import type { Sql } from '@glovebox/database';
import { valueTemplate } from '@glovebox/expressions';
import { principalOf, type DefinitionSnapshot } from '@glovebox/definitions';
import { Problem, toProblem, type ProblemCode } from '@glovebox/problems';
import { decideReactor, findReactor, invokeReactor, type InvokedReactor } from '@glovebox/reactors';
import {
  fateOfUnopened,
  faultsMax,
  finishRun,
  givenUp,
  leaseSeconds,
  markStarted,
  openRun,
  queuedMsOf,
  recordWithoutCode,
  releaseRun,
  renewRun,
  type ClaimedRun,
  type EndOfRun,
  type Keeping,
  type OpenedRun,
  type ReleaseReason,
  type RunRecord,
} from '@glovebox/runs';
import { describeError, every } from '@glovebox/service-host';
import { Sights, type Sight } from '@glovebox/vault';
import type { WorkerContext } from './context';
import type { Ending } from './fair-queue';

/** Another worker has claimed the run. Whatever this one still knows of it no longer counts. */
class Fenced extends Error {}

const renewMs = (leaseSeconds * 1_000) / 3;

/**
 * Executes a claimed run as the sync path does, and stores result and webhook in one statement.
 * When the stores are away the lease ends by itself and the run starts over. Only the beginning of
 * a run waits for what its tenant has under way; its end does not.
 */
export async function executeRun(
  ctx: WorkerContext,
  claimed: ClaimedRun,
  renewEveryMs = renewMs,
): Promise<Ending> {
  let run: OpenedRun;
  try {
    run = await openRun(ctx.database, ctx.sealer, claimed);
  } catch (error) {
    const fields = { error: describeError(error), runId: claimed.id };
    ctx.logger.warn(fields, 'a run could not be opened');
    const fate = fateOfUnopened(claimed, error);
    if (fate === 'given_up') ctx.metrics.runEnded(givenUp(), queuedMsOf(claimed, givenUp()));
    else ctx.metrics.runReleased(fate);
    return fate === 'later' ? 'later' : 'done';
  }
  const lost = new AbortController();
  const renew = async (): Promise<void> => {
    if (!(await renewRun(ctx.database, run))) lost.abort();
  };
  // After a fault the next renewal may succeed. If none does, the lease ends and the fence decides.
  const renewing = every(renewEveryMs, renew, { onFault: () => undefined });
  try {
    const result = await runReactor(ctx, run, lost.signal);
    if (result.status === 'released') {
      await releaseRun(ctx.database, run, result.reason);
      ctx.metrics.runReleased(result.reason);
      return result.reason === 'later' ? 'later' : 'done';
    }
    const end = { ...result, keeping: keepingOf(ctx, run, result.record) };
    if (!(await finishRun(ctx.database, ctx.sealer, run, end))) throw new Fenced();
    ctx.metrics.runEnded(result.record, queuedMsOf(run, result.record));
    return 'done';
  } catch (error) {
    if (!(error instanceof Fenced)) throw error;
    ctx.metrics.fenced('runs');
    return 'done';
  } finally {
    await renewing.stop();
  }
}

/** Only a run that failed is worth repeating. */
function keepingOf(
  { config }: WorkerContext,
  { args }: OpenedRun,
  { outcome }: RunRecord,
): Keeping | undefined {
  const { RUN_ARGUMENTS_KEPT: hours, RUN_ARGUMENTS_PER_TENANT: runsMax } = config;
  if (outcome === 'completed' || hours === 0) return undefined;
  const until = new Date(Date.now() + hours * 3_600_000);
  return { until, runsMax, tokenIds: tokensIn(args) };
}

/** Arguments that cannot be read name none: they failed for that. */
function tokensIn(args: OpenedRun['args']): readonly string[] {
  try {
    return valueTemplate(args).tokenIds;
  } catch {
    return [];
  }
}

type Result =
  | ({ readonly status: 'ended' } & EndOfRun)
  | { readonly status: 'released'; readonly reason: ReleaseReason };

async function runReactor(
  ctx: WorkerContext,
  run: OpenedRun,
  signal: AbortSignal,
): Promise<Result> {
  if (run.startedBefore) return failed(new Problem('run_interrupted'));
  if (run.faults >= faultsMax) return failed(new Problem('internal_error'));
  let codeStarted = false;
  let known: RunRecord | undefined;
  const startedAt = Date.now();
  const sights = new Sights();
  const recorded = (record: RunRecord): RunRecord =>
    known ?? { ...record, startedAt, durationMs: Date.now() - startedAt };
  try {
    const { args, timeoutMs, traceId } = run;
    const { follower } = ctx.definitions;
    const definitions = await follower.current();
    const person = await personOf(ctx.database, run, definitions);
    const find = (now: DefinitionSnapshot): InvokedReactor => reactorOf(run, now, person);
    const decision = decideReactor(follower, definitions, find);
    const response = await invokeReactor(ctx, {
      ...decision.decided,
      decision,
      args,
      urgency: 'async',
      timeoutMs,
      traceId,
      signal,
      sights,
      beforeCode: async () => {
        if (!(await markStarted(ctx.database, run))) throw new Fenced();
        codeStarted = true;
      },
      codeNotStarted: () => {
        codeStarted = false;
      },
      record: (record) => {
        known = record;
      },
    });
    const record = recorded(completed);
    return { status: 'ended', body: JSON.stringify(response), record, sights: sights.list() };
  } catch (error) {
    if (signal.aborted) throw new Fenced();
    if (error instanceof Fenced) throw error;
    if (error instanceof Problem && error.code === 'no_capacity') {
      return { status: 'released', reason: 'later' };
    }
    if (codeStarted) return failed(toProblem(error), recorded, sights.list());
    if (error instanceof Problem && error.code === 'newer_definition') {
      return { status: 'released', reason: 'newer' };
    }
    if (error instanceof Problem && notYet.has(error.code)) {
      return { status: 'released', reason: 'later' };
    }
    if (error instanceof Problem) return failed(error, recorded, sights.list());
    ctx.logger.warn({ error: describeError(error), runId: run.id }, 'a run could not start');
    return { status: 'released', reason: 'fault' };
  }
}

/** With these nothing has run. The next try decides anew. */
const notYet = new Set<ProblemCode>([
  'service_unavailable',
  'share_exhausted',
  'changed_meanwhile',
]);

const { message: _, ...withoutCode } = recordWithoutCode('internal_error');
const completed: RunRecord = { ...withoutCode, outcome: 'completed', status: 200 };

function failed(
  problem: Problem,
  recorded = (record: RunRecord): RunRecord => record,
  sights: readonly Sight[] = [],
): Result {
  const record = recorded(recordWithoutCode(problem.code, problem));
  return { status: 'ended', body: JSON.stringify(problem.body()), record, sights };
}

/** The person that repeated the run from the console, with the role of now. */
async function personOf(
  sql: Sql,
  { tenantId, actorId }: OpenedRun,
  definitions: DefinitionSnapshot,
): Promise<Principal | undefined> {
  definitions.requireReadable('application', actorId);
  if (definitions.find('application', tenantId, actorId)) return undefined;
  const [person] = await sql.query<{ role: string }>(
    'SELECT role FROM people WHERE tenant_id = $1 AND id = $2',
    [tenantId, actorId],
  );
  if (!person || !isRole(person.role)) return undefined;
  return personPrincipal({ id: actorId, tenantId, role: person.role });
}

/**
 * Decides again by the definitions of now: a permission that was revoked since the 202 is denied.
 * The row does not say which key invoked. An application without any key left invokes nothing.
 */
function reactorOf(
  run: OpenedRun,
  definitions: DefinitionSnapshot,
  person: Principal | undefined,
): InvokedReactor {
  const { tenantId, reactorId } = run;
  const caller = person ?? applicationOf(run, definitions);
  if (!caller) {
    throw new Problem('invalid_api_key', {
      detail: 'The application that started this run is gone, has expired or has no key any more.',
    });
  }
  requirePermission(caller, 'token:use');
  return { ...findReactor(definitions, tenantId, reactorId), caller };
}

function applicationOf(
  { tenantId, actorId }: OpenedRun,
  definitions: DefinitionSnapshot,
): Principal | undefined {
  definitions.requireReadable('application', actorId);
  const application = definitions.find('application', tenantId, actorId);
  return application?.keys.length ? principalOf(application) : undefined;
}
