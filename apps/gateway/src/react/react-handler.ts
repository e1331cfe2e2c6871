import type { IncomingMessage } from 'node:http';
import { requirePermission } from '@glovebox/access';
import { timeOrderedId, type Sql } from '@glovebox/database';
import type { DefinitionSnapshot } from '@glovebox/definitions';
import { Budget } from '@glovebox/expressions';
import { replayHeader, requireIdempotencyKey } from '@glovebox/idempotency';
import { invalid, Problem } from '@glovebox/problems';
import {
  asyncTimeoutMaxMs,
  checkArguments,
  decideReactor,
  findReactor,
  invokeReactor,
  type InvokedReactor,
  type ReactorCall,
  type ReactorDecision,
} from '@glovebox/reactors';
import { insertRun, remindOfRuns, type Arguments } from '@glovebox/runs';
import {
  isJsonObject,
  jsonTypes,
  readBody,
  requireMediaType,
  StrictJson,
  traceHeader,
  UnknownMembers,
} from '@glovebox/wire';
import { sendDone } from '../call/answers';
import { admitCall, type Room } from '../call/call-shares';
import { authenticate } from '../call/caller';
import { CallerLeft } from '../connection/caller-left';
import type { CallerRequest } from '../connection/caller-request';
import type { CallerResponse } from '../connection/caller-response';
import { admitBody, hasBody } from '../connection/intake';
import { isSmallBody, joined, readSmallBody } from '../connection/small-body';
import type { GatewayContext } from '../context';
import { noteTokens, type Call } from '../observing/call';
import { acceptanceOf, insertOnce, markedIn, runOnce, type Work } from './run-once';

const invocationBytesMax = 1024 * 1024;
const asyncTimeoutMinMs = 10_000;
/** Clients use both spellings. */
const membersOfInvocation = new Set([
  'args',
  ...['callback_url', 'callbackUrl'],
  ...['timeout_ms', 'timeoutMs'],
]);

/**
 * Handles an invocation: caller, permission, reactor, body. The code then runs now, or a row is
 * stored for a worker.
 */
export async function handleReact(
  ctx: GatewayContext,
  req: CallerRequest,
  res: CallerResponse,
  reactorId: string,
  call: Call,
): Promise<void> {
  const { traceId } = call;
  // Without a pause where possible: a body that has come is read past the buffers of a stream.
  const definitions = ctx.follower.fresh() ?? (await ctx.follower.current());
  const decision = decideReactor(ctx.follower, definitions, (now) =>
    identify(ctx, req, now, reactorId, call),
  );
  const { tenantId, actorId } = decision.decided.caller;
  const room = admitCall(ctx, res, call, { tenantId, caller: actorId });
  const key = requireIdempotencyKey(ctx.headers.read(req, 'idempotency-key'));
  const { args, callbackUrl, timeoutMs, bytes } = await readInvocation(ctx, req, res, room);
  // Decided again: a body may take minutes to come, and a key may be revoked meanwhile.
  const decided = decision.renewNow() ?? (await decision.renew());
  const { reactor, formula, caller } = decided;
  const asked: ReactorCall = { reactor, formula, caller, args, traceId, budget: new Budget(room) };
  const begin = (work?: Work): Promise<unknown> =>
    callbackUrl === undefined
      ? runNow(ctx, asked, decision, { res, call }, work)
      : acceptRun(ctx, asked, { callbackUrl, timeoutMs, call }, work);
  const status = callbackUrl === undefined ? 200 : 202;
  const answer =
    key === undefined
      ? { status, text: JSON.stringify(await begin()), isReplay: false, repeatedRunId: undefined }
      : await runOnce(ctx, decided, { key, body: bytes, status, traceId, room }, begin);
  call.runId ??= answer.repeatedRunId;
  call.answerBytes = Buffer.byteLength(answer.text);
  const headers: Record<string, string> = { [traceHeader]: traceId };
  if (answer.isReplay) headers[replayHeader] = 'true';
  await sendDone(ctx, res, room, answer, headers);
}

/** Checks the caller, its permission, the content type and the reactor, in this order. */
function identify(
  ctx: GatewayContext,
  req: IncomingMessage,
  definitions: DefinitionSnapshot,
  reactorId: string,
  call: Call,
): InvokedReactor {
  // Decided again: the key may have been revoked since.
  call.isKeyed = false;
  const caller = authenticate(ctx, req, definitions, call);
  call.isKeyed = true;
  call.tenantId = caller.tenantId;
  requirePermission(caller, 'token:use');
  if (hasBody(req)) requireMediaType(req.headers, jsonTypes);
  const known = findReactor(definitions, caller.tenantId, reactorId.toLowerCase());
  call.reactorId = known.reactor.id;
  const { reactor, formula, application } = known;
  return { reactor, formula, caller, application };
}

/**
 * Runs the code while its caller waits, and ends it when the caller leaves. With an idempotency key
 * it runs on: a repetition asks for its outcome.
 */
async function runNow(
  ctx: GatewayContext,
  { reactor, formula, caller, args, traceId, budget }: ReactorCall,
  decision: ReactorDecision,
  { res, call }: { readonly res: CallerResponse; readonly call: Call },
  work: Work | undefined,
): Promise<unknown> {
  const runId = work?.runId ?? timeOrderedId();
  call.runId = runId;
  const marks = work && markedIn(work);
  const run = {
    tenantId: reactor.tenantId,
    kind: 'reactor',
    resourceId: reactor.id,
    traceId,
    applicationId: caller.actorId,
    mode: 'sync',
  } as const;
  // Hot path: one literal. An object of spreads grows by a member at a time, and costs kilobytes.
  return invokeReactor(ctx, {
    reactor,
    formula,
    caller,
    application: decision.decided.application,
    decision,
    args,
    traceId,
    budget,
    urgency: 'sync',
    timeoutMs: ctx.config.REACTOR_SYNC_TIMEOUT_MS,
    record: ctx.runLog.recorder(run, runId),
    onTokens: (ids) => noteTokens(call, ids),
    signal: work ? undefined : new CallerLeft(res),
    sights: marks?.sights,
    beforeCode: marks?.beforeCode,
    codeNotStarted: marks?.codeNotStarted,
  });
}

interface Acceptance {
  readonly callbackUrl: string;
  readonly timeoutMs: number;
  readonly call: Call;
}

/** Commits the row before the 202. The job only reminds a worker of it. */
async function acceptRun(
  ctx: GatewayContext,
  asked: ReactorCall,
  { callbackUrl, timeoutMs, call }: Acceptance,
  work: Work | undefined,
): Promise<unknown> {
  noteTokens(call, await checkArguments(ctx, asked));
  const { reactor, caller, args, traceId } = asked;
  const { tenantId } = reactor;
  const actorId = caller.actorId;
  const run = { tenantId, reactorId: reactor.id, actorId, args, callbackUrl, timeoutMs, traceId };
  const insert = (sql: Sql): Promise<string> =>
    insertRun(sql, ctx.sealer, run, ctx.config.RUNS_PENDING_MAX);
  const sql = ctx.database.shareOf(tenantId);
  call.runId = work ? await insertOnce(ctx, work, insert) : await insert(sql);
  remindOfRuns(ctx.runs, tenantId).catch(() => {
    ctx.logger.warn({ traceId }, 'a run was accepted without a reminder; the sweeper will find it');
  });
  return acceptanceOf(call.runId);
}

interface InvocationBody {
  /** The body as it came. */
  readonly bytes: Buffer;
  readonly args: Arguments;
  readonly callbackUrl: string | undefined;
  readonly timeoutMs: number;
}

async function readInvocation(
  ctx: GatewayContext,
  req: CallerRequest,
  res: CallerResponse,
  room: Room,
): Promise<InvocationBody> {
  const isStrict = ctx.headers.isStrict(req);
  admitBody(req, res);
  // Arguments are any JSON, read as code would read it. Token data alone keeps every digit.
  const json = new StrictJson(['args'], { rounds: true });
  const bytes = hasBody(req) ? await readCounted(req, res, room, json.count) : Buffer.alloc(0);
  const body = bytes.length === 0 ? {} : await room.takeApart(bytes.length, json.parse(bytes));
  if (!isJsonObject(body))
    throw new Problem('invalid_json', { detail: 'The body must be an object.' });
  const unknown = new UnknownMembers();
  unknown.note(body, membersOfInvocation);
  unknown.tell(ctx.headers, res);
  if (isStrict) unknown.refuse();

  const args = body.args ?? {};
  const callbackUrl = body.callback_url ?? body.callbackUrl ?? undefined;
  const timeoutMs = body.timeout_ms ?? body.timeoutMs ?? undefined;
  const errors: Record<string, string[]> = {};
  if (!isArguments(args)) errors.args = ['must be an object'];
  const callbackFault = callbackUrl === undefined ? undefined : ctx.egress.faultOfUrl(callbackUrl);
  if (callbackFault !== undefined) errors.callback_url = [callbackFault];
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
    bytes,
    args: isArguments(args) ? args : {},
    callbackUrl: typeof callbackUrl === 'string' ? callbackUrl : undefined,
    timeoutMs: typeof timeoutMs === 'number' ? timeoutMs : asyncTimeoutMinMs,
  };
}

async function readCounted(
  req: CallerRequest,
  res: CallerResponse,
  room: Room,
  count: (part: Buffer) => void,
): Promise<Buffer> {
  if (!isSmallBody(req, invocationBytesMax)) {
    return readBody(req, invocationBytesMax, room, count);
  }
  // It is counted when it is parsed.
  return joined(await readSmallBody(req, res, room));
}

const isAsyncTimeout = (ms: number): boolean => ms >= asyncTimeoutMinMs && ms <= asyncTimeoutMaxMs;

/** A text may be an expression that yields an object. */
const isArguments = (value: unknown): value is Arguments =>
  isJsonObject(value) || typeof value === 'string';
