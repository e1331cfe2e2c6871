import type { Sql } from '@glovebox/database';
import {
  claimCall,
  keyedHash,
  release,
  storeOutcome,
  storeProblem,
  type CallName,
  type Claim,
  type Replay,
} from '@glovebox/idempotency';
import { Problem, toProblem } from '@glovebox/problems';
import { creatorOf, type Decided, type Invocation } from '@glovebox/reactors';
import { describeError } from '@glovebox/service-host';
import { requireSights, type Sight } from '@glovebox/vault';
import type { GatewayContext } from '../context';

/** A call that came with an idempotency key. */
interface KeyedCall {
  readonly key: string;
  readonly body: Buffer;
  /** The status of its success: 200 of a run, 202 of one that is accepted. */
  readonly status: 200 | 202;
}

/** The answer of work that was done. */
export interface Done {
  readonly body: unknown;
  /** Replaces a body that is not kept whole. */
  readonly kept?: unknown;
  readonly sights?: readonly Sight[];
}

/** Work under a claim. */
export interface Work {
  readonly claim: Claim;
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
  decided: Decided,
  { key, body, status }: KeyedCall,
  begin: (work: Work) => Promise<Done>,
): Promise<{ readonly status: number; readonly body: unknown; readonly isReplay: boolean }> {
  const { tenantId } = decided.reactor;
  const claimed = await claim(ctx, decided, { key, body, status });
  if (!('owner' in claimed)) {
    if (claimed.sights.length > 0) requireSights(creatorOf(decided), claimed.sights);
    return { status: claimed.status, body: claimed.body, isReplay: true };
  }
  const work: Work = { claim: claimed, hasStarted: false };
  const afterwards = (write: (sql: Sql) => Promise<void>): Promise<void> =>
    write(ctx.database.of(tenantId)).catch((error: unknown) => {
      // The caller gets its answer. The claim ends by itself, and repetitions get run_interrupted.
      ctx.logger.warn({ error: describeError(error) }, 'the outcome of a call was not stored');
    });
  let done: Done;
  try {
    await ctx.keptOutcomes.requireRoom(tenantId);
    done = await begin(work);
  } catch (thrown) {
    await afterwards((sql) =>
      work.hasStarted
        ? storeProblem(sql, ctx.sealer, claimed, lastingProblem(toProblem(thrown)))
        : release(sql, claimed),
    );
    throw thrown;
  }
  if (!claimed.isStored) await afterwards((sql) => keep(ctx, sql, claimed, done));
  return { status, body: done.body, isReplay: false };
}

async function claim(
  ctx: GatewayContext,
  { reactor, caller }: Decided,
  { key, body, status }: KeyedCall,
): Promise<Claim | Replay> {
  const { sealer, config } = ctx;
  const { tenantId } = reactor;
  const [keyHash, bodyHash] = await Promise.all([keyedHash(sealer, key), keyedHash(sealer, body)]);
  const name: CallName = {
    tenantId,
    applicationId: caller.applicationId,
    path: `/reactors/${reactor.id}/react`,
    keyHash,
  };
  const isRun = status === 200;
  const leaseMs = isRun ? config.REACTOR_SYNC_TIMEOUT_MS + afterRunMs : acceptanceMs;
  return claimCall(ctx.database.of(tenantId), sealer, name, {
    bodyHash,
    status,
    leaseSeconds: leaseMs / 1_000,
    takenOverBy: isRun ? 'none' : 'repetition',
    isRun: true,
  });
}

/** A larger outcome, as JSON, is not kept: a repetition gets 413. */
const outcomeBytesMax = 1024 * 1024;

async function keep(ctx: GatewayContext, sql: Sql, claim: Claim, done: Done): Promise<void> {
  const bytes = Buffer.byteLength(JSON.stringify(done.kept ?? done.body));
  if (bytes > outcomeBytesMax) {
    const detail = 'The code has run. Its answer was too large to be kept.';
    return storeProblem(sql, ctx.sealer, claim, new Problem('payload_too_large', { detail }));
  }
  await storeOutcome(sql, ctx.sealer, claim, done.body, done);
  await ctx.keptOutcomes.add(claim.tenantId, bytes);
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
export const markedIn = (work: Work): Pick<Invocation, 'beforeCode' | 'codeNotStarted'> => ({
  beforeCode: () => {
    work.hasStarted = true;
    return Promise.resolve();
  },
  codeNotStarted: () => void (work.hasStarted = false),
});

/** Commits what is inserted together with its answer, which is the outcome of the call. */
export function insertOnce(
  { database, sealer }: GatewayContext,
  { claim }: Work,
  insert: (sql: Sql) => Promise<Done>,
): Promise<Done> {
  return database.of(claim.tenantId).transaction(async (sql) => {
    const done = await insert(sql);
    await storeOutcome(sql, sealer, claim, done.body);
    return done;
  });
}
