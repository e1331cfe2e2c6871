import { requirePermission, type Principal } from '@glovebox/access';
import type { Use } from '@glovebox/database';
import type { FormulaDefinition, ReactorDefinition } from '@glovebox/definitions';
import { valueTemplate } from '@glovebox/expressions';
import { invalid, Problem } from '@glovebox/problems';
import { castArguments } from './cast-arguments';
import type { ReactorContext } from './context';
import { redactorOf } from './redact';
import { resultOf } from './reactor-response';
import { serviceCalls } from './service-calls';

export interface Invocation {
  readonly reactor: ReactorDefinition;
  readonly formula: FormulaDefinition;
  /** Who invokes: tokens in the arguments are used under this application's grants. */
  readonly caller: Principal;
  /** Whom the code acts as through `req.svc`; null when the reactor's application is gone. */
  readonly application: Principal | null;
  readonly args: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly traceId: string;
  readonly signal?: AbortSignal;
  /** Called when only the code is left to run; a throw keeps it from running. */
  readonly beforeCode?: () => Promise<void>;
}

/** Spec 2.4: what the caller of a reactor gets. */
export interface ReactorResponse {
  tokens?: unknown;
  raw?: unknown;
}

export const resultBytesMax = 1024 * 1024;

/** The whole story of a run: detokenize, check and cast, run, shape. The same sync and async. */
export async function invokeReactor(
  context: ReactorContext,
  invocation: Invocation,
): Promise<ReactorResponse> {
  const { args, secrets } = await readyArguments(context, invocation);
  await invocation.beforeCode?.();
  const outcome = await runCode(context, invocation, args);
  const { raw, tokenize } = resultOf(
    outcome,
    redactorOf([...secrets, invocation.reactor.configuration]),
  );
  const tokens =
    tokenize === undefined ? undefined : await storeTokens(context, invocation, tokenize);
  return { ...(tokens === undefined ? {} : { tokens }), ...(raw === undefined ? {} : { raw }) };
}

/** Under the reactor's application; the caller's only where the reactor has none (contract 3). */
async function storeTokens(
  { database, vault }: ReactorContext,
  { reactor, application, caller, traceId }: Invocation,
  document: unknown,
): Promise<unknown> {
  const principal = reactor.applicationId === null ? caller : application;
  if (!principal) throw new Problem('invalid_api_key');
  requirePermission(principal, 'token:create');
  const actor = { principal, traceId };
  const tokenized = await database
    .of(reactor.tenantId)
    .transaction((sql) => vault.tokenize(sql, actor, document));
  return tokenized.document;
}

/** Everything about the arguments that can be refused before code runs, and what is secret in them. */
export async function readyArguments(
  { database, vault }: Pick<ReactorContext, 'database' | 'vault'>,
  { reactor, formula, caller, args, traceId }: Invocation,
): Promise<{
  readonly args: Readonly<Record<string, unknown>>;
  readonly secrets: readonly unknown[];
}> {
  const template = valueTemplate(args);
  const use: Use = {
    tenantId: reactor.tenantId,
    actorId: caller.applicationId,
    operation: 'reactor.invoke',
    entityType: 'reactor',
    entityId: reactor.id,
    traceId,
  };
  const values = await vault.detokenize(
    database.of(reactor.tenantId),
    caller,
    use,
    template.tokenIds,
  );
  const detokenized = template.render(values);
  if (!isObject(detokenized)) throw invalid({ args: ['must be an object'] });
  const cast = castArguments(formula.requestParameters, detokenized);
  return { args: cast, secrets: [...values.values(), detokenized] };
}

function runCode(
  context: ReactorContext,
  { reactor, formula, application, timeoutMs, traceId, signal }: Invocation,
  args: Readonly<Record<string, unknown>>,
): ReturnType<ReactorContext['runner']['run']> {
  return context.runner.run(
    {
      tenantId: reactor.tenantId,
      resourceId: reactor.id,
      runtime: formula.runtime,
      applicationId: reactor.applicationId,
      code: formula.code,
      codeHash: formula.codeHash,
      isolation: reactor.isolation,
      args,
      configuration: reactor.configuration,
      svc: reactor.applicationId !== null,
      timeoutMs,
      resultBytesMax,
    },
    {
      onCall: serviceCalls(context, application, traceId),
      ...(signal ? { signal } : {}),
    },
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
