import { asLent } from '@glovebox/access';
import type { DefinitionSnapshot } from '@glovebox/definitions';
import type { ReactorRehearsal } from '@glovebox/dry-runs';
import { Budget, inSlices } from '@glovebox/expressions';
import { toProblem } from '@glovebox/problems';
import {
  decideReactor,
  invokeReactor,
  redactedValue,
  secretsOf,
  type InvokedReactor,
  type KnownToRun,
} from '@glovebox/reactors';
import type { RunnerClient, RunOutcome } from '@glovebox/sandbox';
import { CallerLeft } from '../connection/caller-left';
import type { GatewayContext } from '../context';
import {
  apart,
  callerNow,
  configurationFor,
  opensTokens,
  Recorded,
  shownError,
  shownLines,
  wasTried,
  type Rehearsal,
  type ShownError,
  type ShownLine,
} from './rehearsal';

interface ReactorAnswer {
  readonly status: 'completed' | 'failed';
  readonly result?: unknown;
  readonly error?: ShownError;
  readonly lines: readonly ShownLine[];
  readonly duration_ms: number;
}

/**
 * Runs unsaved code as a call of a reactor would, and answers with all that is known of the run.
 * What the code returns is redacted as well: the caller need not have seen what it got.
 */
export async function rehearseReactor(
  ctx: GatewayContext,
  order: ReactorRehearsal,
  { res, room }: Rehearsal,
): Promise<ReactorAnswer> {
  const { args, traceId } = order;
  const find = (now: DefinitionSnapshot): InvokedReactor => invokedIn(now, order);
  const decision = decideReactor(ctx.follower, await ctx.follower.current(), find);
  const { reactor, formula, caller, application } = decision.decided;
  const recorded = new Recorded();
  const how = { hasNetwork: order.network, side: () => 'reactor' as const };
  const runner = new HeldBackTokens(apart(ctx.runner, order, how), order.svc);
  let known: KnownToRun | undefined;
  let ended: { readonly answer: unknown } | { readonly thrown: unknown };
  try {
    const answer = await invokeReactor(
      { ...ctx, runner },
      {
        ...{ reactor, formula, caller, application, decision, args, traceId },
        operation: 'reactor.dry_run',
        keepsExpressions: !opensTokens(caller, order),
        budget: new Budget(room),
        urgency: 'sync',
        timeoutMs: ctx.config.REACTOR_SYNC_TIMEOUT_MS,
        signal: new CallerLeft(res),
        onKnown: (all) => (known = all),
        record: (record) => recorded.take(record),
      },
    );
    ended = { answer };
  } catch (thrown) {
    // Before the code, it is the order that is refused.
    if (!runner.hasRun || !wasTried(toProblem(thrown))) throw thrown;
    ended = { thrown };
  }
  const record = await recorded.record();
  const rest = { lines: shownLines(record), duration_ms: record?.durationMs ?? 0 };
  if ('thrown' in ended) {
    const problem = toProblem(ended.thrown);
    return { status: 'failed', error: shownError(problem, record), ...rest };
  }
  const result = order.svc ? ended.answer : runner.returned;
  if (!known) return { status: 'completed', result, ...rest };
  const secrets = secretsOf(known, { isConfigurationStored: order.configurationOf !== null });
  const shown = await inSlices(redactedValue(result, secrets), room.takeTurn);
  return { status: 'completed', result: shown, ...rest };
}

function invokedIn(definitions: DefinitionSnapshot, order: ReactorRehearsal): InvokedReactor {
  const caller = callerNow(definitions, order.caller);
  const applicationId = order.svc ? order.reactor.applicationId : null;
  const configuration = configurationFor(definitions, 'reactor', order);
  const application =
    applicationId === null ? undefined : definitions.principal(caller.tenantId, applicationId);
  return {
    reactor: { ...order.reactor, applicationId, configuration },
    formula: order.formula,
    caller,
    // The caller may have named any application.
    application: application ? asLent(application, caller) : null,
  };
}

/** Keeps back what the code would have stored as tokens, unless it acts as its application. */
class HeldBackTokens implements Pick<RunnerClient, 'run'> {
  hasRun = false;
  returned: unknown = {};

  constructor(
    private readonly runner: Pick<RunnerClient, 'run'>,
    private readonly stores: boolean,
  ) {}

  async run(...run: Parameters<RunnerClient['run']>): Promise<RunOutcome> {
    const outcome = await this.runner.run(...run);
    this.hasRun = outcome.kind !== 'no_capacity' && outcome.kind !== 'args_too_large';
    if (this.stores || outcome.kind !== 'returned') return outcome;
    this.returned = outcome.value ?? {};
    const { tokenize: _, ...rest } = this.returned as { readonly tokenize?: unknown };
    return { ...outcome, value: rest };
  }
}
