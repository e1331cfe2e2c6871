import { timeOrderedId, type Sql } from '@glovebox/database';
import {
  claimCall,
  keyedHash,
  release,
  repeatedAnswer,
  storeAnswer,
  storeProblem,
  type CallName,
  type Claim,
  type Replay,
} from '@glovebox/idempotency';
import { Problem, toProblem } from '@glovebox/problems';
import type { Invocation, InvokedReactor } from '@glovebox/reactors';
import { describeError } from '@glovebox/service-host';
import { Sights } from '@glovebox/vault';
import type { Room } from '../call/call-shares';
import { located } from '../call/failures';
import type { GatewayContext } from '../context';

/** A call that came with an idempotency key. */
interface KeyedCall {
  readonly key: string;
  readonly body: Buffer;
  /** The status of its success: 200 of a run, 202 of one that is accepted. */
  readonly status: 200 | 202;
  readonly traceId: string;
  readonly room: Room;
}

/** The answer of a keyed call, as JSON. */
interface KeyedAnswer {
  readonly status: number;
  readonly text: string | Buffer;
  readonly isReplay: boolean;
  /** The run whose outcome is repeated. */
  readonly repeatedRunId: string | undefined;
}

/** Work under a claim. */
export interface Work {
  readonly claim: Claim;
  readonly runId: string;
  /** What the code and its arguments saw of tokens. */
  readonly sights: Sights;
  /** True from just before the code starts. Such work is not done again. */
  hasStarted: boolean;
}

/** A claim outlives the longest run by this time. */
const afterRunMs = 30_000;
/** An accepted run is a row, stored together with the outcome. Nothing is begun before. */
const acceptanceMs = 30_000;

/**
 * Does the work of a keyed call once (docs/adr/0043). The claim is stored before the work begins
 * and its outcome after it, so that no death in between lets a repetition start the code again.
 */
export async function runOnce(
  ctx: GatewayContext,
  decided: InvokedReactor,
  call: KeyedCall,
  begin: (work: Work) => Promise<unknown>,
): Promise<KeyedAnswer> {
  const { status } = call;
  const { tenantId } = decided.reactor;
  const claimed = await claim(ctx, decided, call);
  if (!('owner' in claimed)) {
    const again = () => answerAgain(ctx, decided, claimed, call);
    const text = await (claimed.isLarge ? call.room.inTurn(again) : again());
    const repeatedRunId = claimed.runId ?? undefined;
    return { status: claimed.status, text, isReplay: true, repeatedRunId };
  }
  const runId = timeOrderedId();
  const work: Work = { claim: claimed, runId, sights: new Sights(), hasStarted: false };
  const afterwards = (write: (sql: Sql) => Promise<void>): Promise<void> =>
    write(ctx.database.shareOf(tenantId)).catch((error: unknown) => {
      // The caller gets its answer. The claim ends by itself, and repetitions get run_interrupted.
      ctx.logger.warn({ error: describeError(error) }, 'the outcome of a call was not stored');
    });
  let text: string;
  let giveRoomBack = (): void => undefined;
  try {
    giveRoomBack = await ctx.keptOutcomes.requireRoom(tenantId);
    text = JSON.stringify(await begin(work));
  } catch (thrown) {
    if (!work.hasStarted) giveRoomBack();
    await afterwards((sql) =>
      work.hasStarted
        ? keepProblem(ctx, sql, work, located(lastingProblem(toProblem(thrown))))
        : release(sql, claimed),
    );
    throw thrown;
  }
  if (!claimed.isStored) await afterwards((sql) => keep(ctx, sql, work, text));
  return { status, text, isReplay: false, repeatedRunId: undefined };
}

async function answerAgain(
  ctx: GatewayContext,
  { reactor, caller: principal }: InvokedReactor,
  replay: Replay,
  { traceId }: KeyedCall,
): Promise<Buffer> {
  const { tenantId, id: entityId } = reactor;
  const definitions = ctx.follower.fresh() ?? (await ctx.follower.current());
  return repeatedAnswer(ctx.database.shareOf(tenantId), ctx.sealer, replay, {
    actor: { principal, traceId },
    entityType: 'reactor',
    entityId,
    principalOf: (applicationId) => definitions.principal(tenantId, applicationId),
  });
}

async function claim(
  ctx: GatewayContext,
  { reactor, caller }: InvokedReactor,
  { key, body, status }: KeyedCall,
): Promise<Claim | Replay> {
  const { sealer, config } = ctx;
  const { tenantId } = reactor;
  const [keyHash, bodyHash] = await Promise.all([keyedHash(sealer, key), keyedHash(sealer, body)]);
  const name: CallName = {
    tenantId,
    applicationId: caller.actorId,
    path: `/reactors/${reactor.id}/react`,
    keyHash,
  };
  const isRun = status === 200;
  const leaseMs = isRun ? config.REACTOR_SYNC_TIMEOUT_MS + afterRunMs : acceptanceMs;
  return claimCall(ctx.database.shareOf(tenantId), name, {
    bodyHash,
    status,
    leaseSeconds: leaseMs / 1_000,
    takenOverBy: isRun ? 'none' : 'repetition',
    isRun: true,
  });
}

/** A larger outcome, as JSON, is not kept: a repetition gets 413. */
const outcomeBytesMax = 1024 * 1024;

async function keep(ctx: GatewayContext, sql: Sql, work: Work, text: string): Promise<void> {
  const bytes = Buffer.byteLength(text);
  if (bytes > outcomeBytesMax) {
    const detail = 'The code has run. Its answer was too large to be kept.';
    return keepProblem(ctx, sql, work, new Problem('payload_too_large', { detail }));
  }
  const { claim, runId } = work;
  const sights = work.sights.list();
  await storeAnswer(sql, ctx.sealer, claim, { text, runId, sights });
  await ctx.keptOutcomes.add(claim.tenantId, bytes + JSON.stringify(sights).length);
}

function keepProblem(
  { sealer }: GatewayContext,
  sql: Sql,
  { claim, runId, sights }: Work,
  problem: Problem,
): Promise<void> {
  return storeProblem(sql, sealer, claim, problem, { runId, sights: sights.list() });
}

/**
 * The outcome of code that ran. An error that invites its caller to repeat the call is none: the
 * code had run, and something of ours failed behind it.
 */
function lastingProblem(problem: Problem): Problem {
  const isOurs = problem.status === 429 || problem.status === 503;
  return isOurs && problem.code !== 'reactor_error' ? new Problem('run_interrupted') : problem;
}

/** Marks the work from just before the code starts. */
export const markedIn = (
  work: Work,
): Pick<Invocation, 'sights' | 'beforeCode' | 'codeNotStarted'> => ({
  sights: work.sights,
  beforeCode: () => {
    work.hasStarted = true;
    return Promise.resolve();
  },
  codeNotStarted: () => void (work.hasStarted = false),
});

/** The answer to a run that was accepted. Clients use both spellings. */
export const acceptanceOf = (runId: string) => ({
  async_request_id: runId,
  asyncReactorRequestId: runId,
});

/** Commits the run that is inserted together with its answer, which is the outcome of the call. */
export function insertOnce(
  { database, sealer }: GatewayContext,
  { claim }: Work,
  insert: (sql: Sql) => Promise<string>,
): Promise<string> {
  return database.shareOf(claim.tenantId).transaction(async (sql) => {
    const runId = await insert(sql);
    await storeAnswer(sql, sealer, claim, { text: JSON.stringify(acceptanceOf(runId)), runId });
    return runId;
  });
}
