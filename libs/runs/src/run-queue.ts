import {
  readerVersion,
  SharedStatement,
  timeOrderedId,
  type Locking,
  type PreparedStatement,
  type Sql,
} from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import type { Sealer } from '@glovebox/seal';
import type { Sight } from '@glovebox/vault';
import {
  deliveryValues,
  insertionOfDeliveries,
  sealDelivery,
  type NewDelivery,
} from './delivery-queue';
import {
  endedRunRow,
  insertionOfRuns,
  noTexts,
  recordWithoutCode,
  sealTexts,
  type RunLogEntry,
  type RunRecord,
} from './ended-runs';
import {
  answersOf,
  claimBytes,
  claimsHeld,
  claimsOf,
  lockable,
  type Claim,
  type Numbered,
  type OwnedClaim,
} from './shared-claims';
import { attemptOf, isOpen } from './held-rows';
import {
  insertionOfArguments,
  keepingValues,
  trimKeptArguments,
  type Keeping,
} from './kept-arguments';
import { runPlace, type Arguments } from './run-columns';
import { isUnderstood, waitingRows } from './waiting-rows';

/** All that an async run will need, stored before its 202. */
export interface NewRun {
  readonly tenantId: string;
  readonly reactorId: string;
  readonly actorId: string;
  /** The arguments as received. Their expressions are expanded when the run starts. */
  readonly args: Arguments;
  /** Empty: the result is sent to nobody, and not kept. */
  readonly callbackUrl: string;
  readonly timeoutMs: number;
  readonly traceId: string;
}

/** Workers of 0.1.0 know no run without a callback. */
const readersOf = ({ callbackUrl }: NewRun): number => (callbackUrl === '' ? readerVersion : 1);

/**
 * Inserts a run that is due at once, and returns its id. A tenant may have `pendingMax` runs and
 * webhooks waiting, because each holds up to a mebibyte. Concurrent inserts may exceed this number.
 */
export async function insertRun(
  sql: Sql,
  sealer: Sealer,
  run: NewRun,
  pendingMax: number,
): Promise<string> {
  const now = Date.now();
  const id = timeOrderedId(now);
  const [args, callbackUrl] = await Promise.all([
    sealer.seal(runPlace(run.tenantId, id, 'arguments'), JSON.stringify(run.args)),
    sealer.seal(runPlace(run.tenantId, id, 'callback_url'), run.callbackUrl),
  ]);
  const inserted = await sql.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at, reader_version, due_at)
     SELECT $1, $2::uuid, $3, $4, 'pending', $5, $6, $7, $8, $10, $11, now()
     WHERE ${waitingRows('$2', '$9')} < $9
     RETURNING id`,
    [
      id,
      run.tenantId,
      run.reactorId,
      run.actorId,
      args,
      callbackUrl,
      run.timeoutMs,
      run.traceId,
      pendingMax,
      // Lists look for the time in the id.
      new Date(now),
      readersOf(run),
    ],
  );
  if (inserted.length === 0) {
    throw new Problem('share_exhausted', {
      detail: 'Too many runs and webhooks of this tenant are waiting.',
      retryAfterSeconds: 1,
    });
  }
  return id;
}

/** The lease of a worker on a run. The worker renews it three times in that span. */
export const leaseSeconds = 15;

/** A run that this process has claimed, still sealed. */
export interface ClaimedRun {
  readonly id: string;
  readonly tenantId: string;
  readonly reactorId: string;
  readonly actorId: string;
  readonly args: Buffer;
  readonly callbackUrl: Buffer;
  readonly timeoutMs: number;
  readonly traceId: string;
  readonly createdAt: Date;
  /** Raised by each claim. Every later write names it, so that a former owner writes nothing. */
  readonly fence: string;
  /** The code of an earlier claim had started: its effects are unknown. */
  readonly startedBefore: boolean;
  /** How often something that was not the run's own fault kept its code from running. */
  readonly faults: number;
}

/** A claimed run whose arguments and callback URL are opened. */
export interface OpenedRun
  extends NewRun, Pick<ClaimedRun, 'id' | 'startedBefore' | 'faults' | 'createdAt'> {
  readonly fence: number;
}

/**
 * Part of every write of a claim. With `= 'running'` Postgres may walk the index of all running runs
 * in place of looking up the id.
 */
const isRunning = `status <> 'pending'`;

const claimStatement: PreparedStatement = {
  name: 'claim-runs',
  text: `
    UPDATE reactor_runs
    SET status = 'running', fence = fence + 1, lease_until = now() + $2 * interval '1 second'
    WHERE id = ANY (ARRAY(
      SELECT id FROM reactor_runs
      WHERE tenant_id = $1 AND status = 'pending' AND due_at <= now()
         AND ${isUnderstood} AND ${isOpen}
      ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
    RETURNING id, tenant_id AS "tenantId", reactor_id AS "reactorId", actor_id AS "actorId",
      arguments AS args, callback_url AS "callbackUrl", timeout_ms AS "timeoutMs",
      trace_id AS "traceId", created_at AS "createdAt", fence,
      started_at IS NOT NULL AS "startedBefore", faults`,
};

/** Claims the runs of the tenant that have been due for longest, at most so many. */
export function claimRuns(sql: Sql, tenantId: string, atMost: number): Promise<ClaimedRun[]> {
  return sql.query(claimStatement, [tenantId, leaseSeconds, atMost]);
}

/**
 * Opens the sealed columns of a run. A run that does not open is released, and given up after
 * `faultsMax` faults. A missing key or store counts as no fault: it is not the fault of the run.
 */
export async function openRun(database: Sql, sealer: Sealer, run: ClaimedRun): Promise<OpenedRun> {
  try {
    const [args, callbackUrl] = await Promise.all([
      sealer.open(runPlace(run.tenantId, run.id, 'arguments'), run.args),
      sealer.open(runPlace(run.tenantId, run.id, 'callback_url'), run.callbackUrl),
    ]);
    return {
      ...run,
      fence: Number(run.fence),
      args: JSON.parse(args.toString('utf8')) as NewRun['args'],
      callbackUrl: callbackUrl.toString('utf8'),
    };
  } catch (error) {
    const fate = fateOfUnopened(run, error);
    if (fate !== 'given_up') await releaseRun(database, run, fate);
    // Without a webhook: the callback URL did not open.
    else await endRun(database, run, { record: givenUp(), sealed: noTexts });
    throw error;
  }
}

/** What becomes of a run that did not open. */
export function fateOfUnopened(run: ClaimedRun, error: unknown): ReleaseReason | 'given_up' {
  // A key or a store is missing here. The next worker, or the next second, may have it.
  if (error instanceof Problem && error.code === 'service_unavailable') return 'later';
  return run.faults < faultsMax ? 'fault' : 'given_up';
}

/** The record of a run that met too many faults. */
export const givenUp = (): RunRecord => recordWithoutCode('internal_error');

/**
 * A run that met so many faults before its code could start is broken itself. A worker that falls
 * silent before the code is one of them: the run may be what ends its workers.
 */
export const faultsMax = 5;

/** False: another worker has claimed the run meanwhile, and this one must let go of it. */
export async function renewRun(sql: Sql, run: Claim): Promise<boolean> {
  const rows = await sql.query(
    `UPDATE reactor_runs SET lease_until = now() + $3 * interval '1 second'
     WHERE id = $1 AND fence = $2 AND ${isRunning} RETURNING id`,
    [run.id, run.fence, leaseSeconds],
  );
  return rows.length > 0;
}

/**
 * `later`: there was no capacity, or no store. `newer`: this worker is too old for a definition that
 * the run needs. `fault`: something broke that should not.
 */
export type ReleaseReason = 'later' | 'newer' | 'fault';

/** Until then the run is left to newer workers, so that an old one alone does not spin on it. */
const newerSeconds = 5;

/** Gives back a run whose code has not run. It is due again after a moment. */
export async function releaseRun(sql: Sql, run: Claim, reason: ReleaseReason): Promise<void> {
  await sql.query(
    `UPDATE reactor_runs
     SET status = 'pending', started_at = NULL, lease_until = NULL, faults = faults + $3,
       due_at = now() + make_interval(secs => $4)
     WHERE id = $1 AND fence = $2 AND ${isRunning}`,
    [run.id, run.fence, reason === 'fault' ? 1 : 0, reason === 'newer' ? newerSeconds : 1],
  );
}

const runsHeld = claimsHeld('reactor_runs', isRunning);

const startStatement = lockable(
  'mark-started',
  (locking) => `
  WITH ${runsHeld(locking)}
  UPDATE reactor_runs SET started_at = now() FROM mine WHERE reactor_runs.id = mine.id
  RETURNING mine.nth::int`,
);

const starts = new SharedStatement<OwnedClaim, true>({
  bytesOf: () => claimBytes,
  write: async (sql, runs, locking) => {
    const rows = await sql.query<Numbered>(startStatement[locking], claimsOf(runs));
    return answersOf(runs, rows, () => true);
  },
});

/** From here on the code may have had effects: the run is not started a second time. */
export async function markStarted(sql: Sql, run: OwnedClaim): Promise<boolean> {
  return (await starts.ask(sql, run)) ?? false;
}

/** The answer of a run, with what it shows of tokens. */
export interface EndOfRun {
  readonly body: string;
  readonly record: RunRecord;
  readonly sights: readonly Sight[];
  /** Undefined: its arguments go with it. */
  readonly keeping?: Keeping | undefined;
}

/**
 * Ends a run: its row moves to the log, and its webhook is due, in one statement. False: another
 * worker has claimed the run meanwhile, and this end is dropped.
 */
export async function finishRun(
  database: Sql,
  sealer: Sealer,
  run: OpenedRun,
  { body, record, sights, keeping }: EndOfRun,
): Promise<boolean> {
  const [sealed, delivery] = await Promise.all([
    sealTexts(sealer, entryOf(run, record)),
    run.callbackUrl === '' ? undefined : sealDelivery(sealer, run, body, sights),
  ]);
  return endRun(database, run, { record, sealed, delivery, keeping });
}

type EndingRun = Pick<
  ClaimedRun,
  'id' | 'tenantId' | 'reactorId' | 'actorId' | 'traceId' | 'createdAt'
> &
  Claim;

interface Ending extends OwnedClaim {
  readonly row: Readonly<Record<string, unknown>>;
  readonly sealed: typeof noTexts;
  readonly delivery: NewDelivery | undefined;
  readonly keeping: Keeping | undefined;
}

/** Ends runs whose claims still hold. $3 to $5 are the runs of the log, $6 to $8 their webhooks. */
const ending = (returned: string, more: string) => (locking: Locking) =>
  `
  WITH ${runsHeld(locking)},
  ended AS (
    DELETE FROM reactor_runs USING mine WHERE reactor_runs.id = mine.id RETURNING ${returned}),
  logged AS (${insertionOfRuns('$3', '$4', '$5', 'WHERE nth IN (SELECT nth FROM ended)')}),
  due AS (${insertionOfDeliveries('$6', '$7', '$8', 'WHERE nth IN (SELECT nth FROM ended)')})${more}
  SELECT nth::int FROM ended`;

const endStatement = lockable('end-runs', ending('mine.nth', ''));

/** Takes over the arguments of some of them: $9. Where none is kept, nothing is paid for it. */
const endAndKeepStatement = lockable(
  'end-and-keep-runs',
  ending('mine.nth, reactor_runs.*', `, kept AS (${insertionOfArguments('$9')})`),
);

const ends = new SharedStatement<Ending, true>({
  bytesOf: ({ sealed, delivery }) =>
    claimBytes +
    (sealed.lines?.length ?? 0) +
    (sealed.reason?.length ?? 0) +
    (delivery ? delivery.body.length + delivery.callbackUrl.length : 0),
  write: async (sql, endings, locking) => {
    const deliveries = endings.map(({ delivery }) => delivery);
    const values = [
      ...claimsOf(endings),
      JSON.stringify(endings.map(({ row }) => row)),
      endings.map(({ sealed }) => sealed.lines),
      endings.map(({ sealed }) => sealed.reason),
      ...deliveryValues(deliveries),
    ];
    if (endings.every(({ keeping }) => keeping === undefined)) {
      const rows = await sql.query<Numbered>(endStatement[locking], values);
      return answersOf(endings, rows, () => true);
    }
    const kept = keepingValues(endings.map(({ keeping }) => keeping));
    const rows = await sql.query<Numbered>(endAndKeepStatement[locking], [...values, kept]);
    // The ends are committed. What is left over is trimmed behind the next run that fails.
    await trimKept(sql, endings).catch(() => undefined);
    return answersOf(endings, rows, () => true);
  },
});

async function trimKept(sql: Sql, endings: readonly Ending[]): Promise<void> {
  const limits = new Map<string, number>();
  for (const { tenantId, keeping } of endings) if (keeping) limits.set(tenantId, keeping.runsMax);
  for (const [tenantId, runsMax] of limits) await trimKeptArguments(sql, tenantId, runsMax);
}

async function endRun(
  sql: Sql,
  run: EndingRun,
  end: {
    readonly record: RunRecord;
    readonly sealed: typeof noTexts;
    readonly delivery?: NewDelivery | undefined;
    readonly keeping?: Keeping | undefined;
  },
): Promise<boolean> {
  const { record, sealed, delivery, keeping } = end;
  const { id, tenantId, fence } = run;
  const entry = { ...entryOf(run, record), createdAt: run.createdAt.getTime() };
  const row = endedRunRow(entry);
  return (await ends.ask(sql, { id, tenantId, fence, row, sealed, delivery, keeping })) ?? false;
}

/** The time from the acceptance of a run to the start of its code. */
export const queuedMsOf = (run: Pick<ClaimedRun, 'createdAt'>, record: RunRecord): number =>
  Math.max(record.startedAt - run.createdAt.getTime(), 0) + record.queuedMs;

function entryOf(run: EndingRun, record: RunRecord): RunLogEntry {
  return {
    runId: run.id,
    tenantId: run.tenantId,
    kind: 'reactor',
    resourceId: run.reactorId,
    traceId: run.traceId,
    applicationId: run.actorId,
    mode: 'async',
    attempt: attemptOf(run.fence),
    record: { ...record, queuedMs: queuedMsOf(run, record) },
  };
}

const silentRunsAtOnceMax = 1_000;

/**
 * Makes the runs of silent workers due again, and returns their number. The fence keeps out whatever
 * those workers still write.
 */
export async function takeBackSilentRuns(sql: Sql): Promise<number> {
  for (let taken = 0; ;) {
    const rows = await sql.query(
      `UPDATE reactor_runs SET status = 'pending', lease_until = NULL, faults = faults + 1
       WHERE id IN (
         SELECT id FROM reactor_runs WHERE status = 'running' AND lease_until < now()
         ORDER BY lease_until LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING id`,
      [silentRunsAtOnceMax],
    );
    taken += rows.length;
    if (rows.length < silentRunsAtOnceMax) return taken;
  }
}
