import type { IncomingMessage, ServerResponse } from 'node:http';
import { requirePermission } from '@glovebox/access';
import { timeOrderedId } from '@glovebox/database';
import { Budget } from '@glovebox/expressions';
import { invalid, Problem } from '@glovebox/problems';
import {
  checkArguments,
  findReactor,
  insertRun,
  invokeReactor,
  remindOfRuns,
  type Decided,
  type Invocation,
  type RunRecord,
} from '@glovebox/reactors';
import { isJsonObject, readBody, StrictJson, traceHeader } from '@glovebox/wire';
import { sendJson, sendProblem } from '../call/answers';
import { admitCall, type Room } from '../call/call-shares';
import { authenticate } from '../call/caller';
import { admitBody, hasBody, isJson, mediaType } from '../connection/intake';
import type { GatewayContext } from '../context';
import type { Call } from '../observing/call';

const invocationBytesMax = 1024 * 1024;
const asyncTimeoutMinMs = 10_000;
const asyncTimeoutMaxMs = 210_000;

/**
 * Handles an invocation: caller, permission, reactor, body. The code then runs now, or a row is
 * stored for a worker.
 */
export async function handleReact(
  ctx: GatewayContext,
  req: IncomingMessage,
  res: ServerResponse,
  reactorId: string,
  call: Call,
): Promise<void> {
  const { traceId } = call;
  try {
    const decide = (): Promise<Decided> => identify(ctx, req, reactorId, call);
    const { caller } = await decide();
    const { tenantId, applicationId } = caller;
    const room = admitCall(ctx, res, call, { tenantId, caller: applicationId });
    const { args, callbackUrl, timeoutMs } = await readInvocation(ctx, req, res, room);
    // Decided again: a body may take minutes to come, and a key may be revoked meanwhile.
    const decided = { ...(await decide()), decideAnew: decide };
    const invocation = { ...decided, args, traceId, budget: new Budget(room) };
    if (callbackUrl === undefined) {
      await runNow(ctx, invocation, res);
      return;
    }
    const runId = await acceptRun(ctx, { ...invocation, urgency: 'async', timeoutMs }, callbackUrl);
    sendJson(
      res,
      202,
      { async_request_id: runId, asyncReactorRequestId: runId },
      { [traceHeader]: traceId },
    );
  } catch (thrown) {
    sendProblem(req, res, thrown, call);
  }
}

/** Checks the caller, its permission, the content type and the reactor, in this order. */
async function identify(
  ctx: GatewayContext,
  req: IncomingMessage,
  reactorId: string,
  call: Call,
): Promise<Decided> {
  const definitions = ctx.follower.fresh() ?? (await ctx.follower.current());
  const caller = authenticate(ctx, req, definitions);
  call.tenantId = caller.tenantId;
  requirePermission(caller, 'token:use');
  requireJson(req);
  const known = findReactor(definitions, caller.tenantId, reactorId.toLowerCase());
  call.reactorId = known.reactor.id;
  return { ...known, caller };
}

async function runNow(
  ctx: GatewayContext,
  invocation: Omit<Invocation, 'urgency' | 'timeoutMs' | 'signal'>,
  res: ServerResponse,
): Promise<void> {
  const callerLeft = new AbortController();
  if (res.destroyed) callerLeft.abort();
  res.once('close', () => callerLeft.abort());
  const response = await invokeReactor(ctx, {
    ...invocation,
    urgency: 'sync',
    timeoutMs: ctx.config.REACTOR_SYNC_TIMEOUT_MS,
    signal: callerLeft.signal,
    record: (record) => logRun(ctx, invocation, record),
  });
  sendJson(res, 200, response, { [traceHeader]: invocation.traceId });
}

function logRun(
  { runLog }: GatewayContext,
  { reactor, caller, traceId }: Pick<Invocation, 'reactor' | 'caller' | 'traceId'>,
  record: RunRecord,
): void {
  runLog.add({
    runId: timeOrderedId(record.startedAt),
    tenantId: reactor.tenantId,
    kind: 'reactor',
    resourceId: reactor.id,
    traceId,
    applicationId: caller.applicationId,
    mode: 'sync',
    attempt: 1,
    record,
  });
}

/** Commits the row before the 202. The job only reminds a worker of it. */
async function acceptRun(
  ctx: GatewayContext,
  invocation: Invocation,
  callbackUrl: string,
): Promise<string> {
  await checkArguments(ctx, invocation);
  const { reactor, caller, args, timeoutMs, traceId } = invocation;
  const { tenantId } = reactor;
  const actorId = caller.applicationId;
  const runId = await insertRun(
    ctx.database.of(tenantId),
    ctx.sealer,
    { tenantId, reactorId: reactor.id, actorId, args, callbackUrl, timeoutMs, traceId },
    ctx.config.RUNS_PENDING_MAX,
  );
  remindOfRuns(ctx.runs, tenantId).catch(() => {
    ctx.logger.warn({ runId }, 'a run was accepted without a reminder; the sweeper will find it');
  });
  return runId;
}

function requireJson(req: IncomingMessage): void {
  if (hasBody(req) && !isJson(mediaType(req))) {
    throw new Problem('unsupported_media_type', { detail: 'The body must be application/json.' });
  }
}

interface InvocationBody {
  readonly args: Readonly<Record<string, unknown>>;
  readonly callbackUrl: string | undefined;
  readonly timeoutMs: number;
}

async function readInvocation(
  ctx: GatewayContext,
  req: IncomingMessage,
  res: ServerResponse,
  room: Room,
): Promise<InvocationBody> {
  admitBody(req, res);
  // Arguments are any JSON, read as code would read it. Token data alone keeps every digit.
  const json = new StrictJson(['args'], { rounds: true });
  const bytes = hasBody(req)
    ? await readBody(req, invocationBytesMax, room, json.count)
    : Buffer.alloc(0);
  const body = bytes.length === 0 ? {} : await room.takeApart(bytes.length, json.parse(bytes));
  if (!isJsonObject(body))
    throw new Problem('invalid_json', { detail: 'The body must be an object.' });

  const args = body.args ?? {};
  // Clients use both spellings.
  const callbackUrl = body.callback_url ?? body.callbackUrl ?? undefined;
  const timeoutMs = body.timeout_ms ?? body.timeoutMs ?? undefined;
  const errors: Record<string, string[]> = {};
  if (!isJsonObject(args)) errors.args = ['must be an object'];
  if (callbackUrl !== undefined && !isCallbackUrl(ctx, callbackUrl)) {
    errors.callback_url = ['must be an http or https URL that may be reached'];
  }
  if (timeoutMs !== undefined) {
    if (callbackUrl === undefined) errors.timeout_ms = ['is only allowed with callback_url'];
    else if (!Number.isInteger(timeoutMs) || !isAsyncTimeout(Number(timeoutMs))) {
      errors.timeout_ms = [
        `must be a whole number from ${asyncTimeoutMinMs} to ${asyncTimeoutMaxMs}`,
      ];
    }
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return {
    args: isJsonObject(args) ? args : {},
    callbackUrl: typeof callbackUrl === 'string' ? callbackUrl : undefined,
    timeoutMs: typeof timeoutMs === 'number' ? timeoutMs : asyncTimeoutMinMs,
  };
}

const isAsyncTimeout = (ms: number): boolean => ms >= asyncTimeoutMinMs && ms <= asyncTimeoutMaxMs;

/**
 * Names are resolved when the webhook goes out. A URL that is forbidden as it stands is refused
 * now.
 */
function isCallbackUrl(ctx: GatewayContext, text: unknown): text is string {
  if (typeof text !== 'string' || text.length > 2_000) return false;
  try {
    ctx.egress.checkUrl(text);
    return true;
  } catch {
    return false;
  }
}
