import { inCode, requirePermission, type Principal } from '@glovebox/access';
import { applicationGone, isShowableName, Problem } from '@glovebox/problems';
import type { RunRecord } from '@glovebox/runs';
import type { Cancellation, Urgency } from '@glovebox/sandbox';
import { Reach } from '@glovebox/vault';
import { argumentNames } from './argument-names';
import { askedBundle, type AskedBundle } from './bundles';
import type { ReactorContext } from './context';
import type { InvokedReactor, ReactorDecision } from './find-reactor';
import { OpenedValues } from './opened-values';
import { redactorOf, type KnownToRun } from './redact';
import { readyArguments, type ReactorCall } from './reactor-arguments';
import { faultOfDocument, returnedValue, type Ran } from './reactor-response';
import { RunRecording } from './run-recording';
import { serviceCalls } from './service-calls';

export interface Invocation extends InvokedReactor, ReactorCall {
  readonly decision: ReactorDecision;
  readonly urgency: Urgency;
  /** The use of the tokens in the arguments, as the audit log calls it. */
  readonly operation?: 'reactor.invoke' | 'reactor.dry_run';
  readonly timeoutMs: number;
  readonly signal?: Cancellation | undefined;
  /** Told of the tokens that the arguments use, once they are open. */
  readonly onTokens?: (ids: readonly string[]) => void;
  /** Told of all that the run knows, before its code starts. */
  readonly onKnown?: ((known: KnownToRun) => void) | undefined;
  /** Called just before the code starts. A throw keeps it from starting. */
  readonly beforeCode?: (() => Promise<void>) | undefined;
  /** Called when the code has not been started after all. */
  readonly codeNotStarted?: (() => void) | undefined;
  /**
   * Called once, whether the run returned or threw: after the answer of a sync run, and before that
   * of an async one.
   */
  readonly record?: (record: RunRecord) => void;
}

/** The answer to a run: docs/reference/invocation.md. */
interface ReactorResponse {
  tokens?: unknown;
  raw?: unknown;
}

/** The members of a returned object that we understand. */
interface ReactorResult {
  readonly raw?: unknown;
  readonly tokenize?: unknown;
}

const resultBytesMax = 1024 * 1024;

/**
 * Runs a reactor, sync or async: detokenizes, checks and casts, runs the code, shapes the answer.
 */
export function invokeReactor(
  context: ReactorContext,
  invocation: Invocation,
): Promise<ReactorResponse> {
  const { reactor, formula, args, urgency, signal, record } = invocation;
  const recording = new RunRecording({
    tenantId: reactor.tenantId,
    logger: context.logger,
    urgency,
    signal,
    argumentNames: (filled) => argumentNames(formula.requestParameters, args, filled),
    codeHash: formula.codeHash,
    record,
  });
  return recording.execute(() => runRecorded(context, invocation, recording));
}

async function runRecorded(
  context: ReactorContext,
  invocation: Invocation,
  recording: RunRecording,
): Promise<ReactorResponse> {
  const { operation = 'reactor.invoke' } = invocation;
  const reach = new Reach();
  const { args, detokenized, data, tokenIds } = await readyArguments(
    context,
    invocation,
    operation,
    reach,
  );
  recording.uses(tokenIds);
  invocation.onTokens?.(tokenIds);
  const { decision, beforeCode } = invocation;
  // Values were opened for the code of that moment. Other code must not get them.
  await decision.confirm();
  if (beforeCode) await beforeCode();
  const opened = new OpenedValues();
  const { reactor, formula } = invocation;
  const known: KnownToRun = {
    data,
    opened,
    args: detokenized,
    sent: invocation.args,
    configuration: reactor.configuration,
    parameters: formula.requestParameters,
    code: formula.code,
  };
  recording.knows(known);
  invocation.onKnown?.(known);
  const bundle = askedBundle(context.bundles, reactor.tenantId, formula);
  const parts = { opened, recording, reach, bundle };
  const outcome = await runCode(context, invocation, args, parts);
  if (bundle?.isMissing) invocation.codeNotStarted?.();
  bundle?.requireRead();
  recording.ended(outcome);
  if (outcome.kind === 'no_capacity' || outcome.kind === 'args_too_large') {
    invocation.codeNotStarted?.();
  }
  const result =
    (outcome.kind === 'returned'
      ? outcome.value
      : await returnedValue(outcome, redactorOf(known), ranOf(invocation))) ?? {};
  recording.notes(droppedNote(result));
  const { raw, tokenize } = result as ReactorResult;
  if (tokenize === undefined) return raw === undefined ? {} : { raw };
  opened.addDocument(tokenize);
  const tokens = await tokenizeReturned(context, invocation, tokenize, reach).catch(
    async (error: unknown) => {
      throw await faultOfDocument(error, redactorOf(known));
    },
  );
  return raw === undefined ? { tokens } : { tokens, raw };
}

const ranOf = ({ reactor, formula, urgency, timeoutMs }: Invocation): Ran => ({
  what: 'reactor',
  isAsync: urgency === 'async',
  timeoutMs,
  runtime: formula.runtime,
  hasSvc: reactor.applicationId !== null,
});

const usedNames = ['raw', 'tokenize'];
const shownNamesMax = 10;
const lookedAtMax = 100;

/** Names the members of a result that no caller gets. Undefined: there are none. */
function droppedNote(result: object): string | undefined {
  const names = Object.keys(result);
  if (names.every((name) => usedNames.includes(name))) return undefined;
  const used = usedNames.filter((name) => Object.hasOwn(result, name));
  const dropped = names.length - used.length;
  // There may be 250,000 of them.
  const shown = names
    .slice(0, lookedAtMax)
    .filter((name) => !used.includes(name) && isShowableName(name))
    .slice(0, shownNamesMax);
  const more = dropped - shown.length;
  const said = [...shown, ...(more === 0 ? [] : [`+${more}`])];
  return `${said.join(', ')} ${dropped === 1 ? 'was' : 'were'} dropped: return raw`;
}

/**
 * Decides anew for code that is running. A run may outlast its reactor, its caller and their
 * permissions. It goes on then, but acts as nobody.
 */
async function authorityOf({ reactor, decision }: Invocation): Promise<InvokedReactor> {
  const now = await decision.latest().catch((error: unknown) => {
    const isGone = error instanceof Problem && error.code === 'not_found';
    throw isGone ? new Problem('application_gone') : error;
  });
  if (now.reactor.applicationId !== reactor.applicationId) throw new Problem('application_gone');
  return now;
}

/** Stores them as the reactor's application, or as the caller's if the reactor has none. */
async function tokenizeReturned(
  { database, vault }: ReactorContext,
  invocation: Invocation,
  document: unknown,
  reach: Reach,
): Promise<unknown> {
  const { traceId, sights } = invocation;
  const authority = await authorityOf(invocation);
  const principal = creatorOf(authority);
  requirePermission(principal, 'token:create');
  const actor = { principal, traceId, sights, reach };
  return database
    .shareOf(authority.reactor.tenantId)
    .transaction((sql) => vault.tokenize(sql, actor, document));
}

/** The application that tokens which code returns are stored as. */
function creatorOf({ reactor, application, caller }: InvokedReactor): Principal {
  const principal = reactor.applicationId === null ? inCode(caller) : application;
  if (!principal) throw applicationGone('reactor');
  return principal;
}

interface RunParts {
  readonly opened: OpenedValues;
  readonly recording: RunRecording;
  readonly reach: Reach;
  readonly bundle: AskedBundle | undefined;
}

function runCode(
  context: ReactorContext,
  invocation: Invocation,
  args: Readonly<Record<string, unknown>>,
  { opened, recording, reach, bundle }: RunParts,
): ReturnType<ReactorContext['runner']['run']> {
  const { reactor, formula, urgency, timeoutMs, traceId, signal, sights } = invocation;
  const application = async (): Promise<Principal | null> =>
    (await authorityOf(invocation)).application;
  const onCall = serviceCalls(context, application, traceId, reach, opened, sights);
  const hooks = { onCall, onLog: recording.onLog, reach: () => reach.hosts };
  return context.runner.run(
    {
      kind: 'reactor',
      tenantId: reactor.tenantId,
      resourceId: reactor.id,
      runtime: formula.runtime,
      applicationId: reactor.applicationId,
      code: bundle?.read ?? formula.code,
      codeHash: formula.codeHash,
      isolation: reactor.isolation,
      args,
      configuration: reactor.configuration,
      svc: reactor.applicationId !== null,
      urgency,
      timeoutMs,
      resultBytesMax,
    },
    signal ? { ...hooks, signal } : hooks,
  );
}
