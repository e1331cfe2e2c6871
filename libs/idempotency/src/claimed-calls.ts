import { createHmac, randomUUID } from 'node:crypto';
import { isApiKey } from '@glovebox/access';
import type { PreparedStatement, Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import type { Place, Sealer } from '@glovebox/seal';
import type { Sight } from '@glovebox/vault';

/** Identifies a call, however often it is sent, by application, path and idempotency key. */
export interface CallName {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly path: string;
  readonly keyHash: string;
}

/** A call that this process alone is working on. */
export interface Claim extends CallName {
  readonly owner: string;
  readonly status: number;
  readonly isRun: boolean;
  /** The transaction that did the work has stored the answer. */
  isStored: boolean;
}

/** How the work of a call ended. */
interface Outcome {
  readonly status: number;
  /** The answer, as JSON. Empty where the answer has no body. */
  readonly text: string;
  /** `completed`, or the code of the error. */
  readonly outcome: string;
  readonly runId?: string | undefined;
  /** Absent where the answer shows nothing of tokens. */
  readonly sights?: readonly Sight[] | undefined;
}

/** The outcome of an earlier call, still sealed. */
export interface Replay extends CallName {
  readonly status: number;
  /** Null: the answer was erased with the data that it shows, or is large and not read yet. */
  readonly response: Buffer | null;
  readonly isLarge: boolean;
  readonly isRun: boolean;
  /** In their stored form. Null where the answer shows nothing of tokens, unless it is of a run. */
  readonly sights: unknown;
  readonly outcome: string;
  readonly runId: string | null;
  readonly endedAt: Date;
}

interface Row extends Omit<Replay, keyof CallName | 'status' | 'outcome'> {
  readonly isClaimed: boolean;
  readonly bodyHash: string;
  readonly isHeld: boolean;
  readonly status: number | null;
  readonly outcome: string | null;
}

/** A larger answer is read by itself, when it is its turn. */
const smallAnswerBytesMax = 64 * 1024;

const keptFor = `interval '24 hours'`;
const ofCall = `tenant_id = $1 AND application_id = $2 AND path = $3 AND key_hash = $4`;

/**
 * Hashes with a secret key, so that neither the caller's key nor a low-entropy body can be guessed.
 */
export async function keyedHash(sealer: Sealer, text: string | Uint8Array): Promise<string> {
  const key = await sealer.lastingKey('idempotency');
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** The kind of call that is claimed. */
interface ClaimTerms {
  readonly bodyHash: string;
  /** The status of its success. */
  readonly status: number;
  /** The claim of an owner that died ends after this time. */
  readonly leaseSeconds: number;
  /**
   * A call that takes over a claim that has ended: any, where the outcome is stored together with
   * the change; one with the same body; or none, where the work may have been begun.
   */
  readonly takenOverBy: 'any' | 'repetition' | 'none';
  /** The outcome of a run counts towards its tenant's share of what is kept. */
  readonly isRun?: boolean;
}

/** Whether the claim or the outcome of the row `k` no longer counts for a call with this body. */
const isOver = `(k.created_at < now() - ${keptFor} OR (k.status IS NULL AND k.lease_until < now()
    AND ($8 = 'any' OR ($8 = 'repetition' AND k.body_hash = $5))))`;

/**
 * Finds the call or claims it. Looks first: the transaction of a change holds the row of its call,
 * and an insert would wait for it.
 */
const claimStatement: PreparedStatement = {
  name: 'claim-call',
  text: `
WITH known AS (
  SELECT * FROM idempotency_keys k WHERE ${ofCall} AND NOT ${isOver}
), claimed AS (
  INSERT INTO idempotency_keys AS k
    (tenant_id, application_id, path, key_hash, body_hash, owner, lease_until, created_at, run_bytes)
  SELECT $1::uuid, $2::uuid, $3, $4, $5, $6::uuid, now() + make_interval(secs => $7), now(), $9::int
  WHERE NOT EXISTS (SELECT 1 FROM known)
  ON CONFLICT (application_id, path, key_hash) DO UPDATE
    SET body_hash = excluded.body_hash, owner = excluded.owner, lease_until = excluded.lease_until,
      created_at = excluded.created_at, run_bytes = excluded.run_bytes,
      status = NULL, response = NULL, sights = NULL, outcome = NULL, run_id = NULL, ended_at = NULL
    WHERE ${isOver}
  RETURNING k.owner
)
SELECT c.owner IS NOT NULL AS "isClaimed", k.body_hash AS "bodyHash",
  k.lease_until >= now() AS "isHeld", k.status, k.sights, k.outcome, size.is_large AS "isLarge",
  CASE WHEN NOT size.is_large THEN k.response END AS response,
  k.run_bytes IS NOT NULL AS "isRun",
  k.run_id AS "runId", coalesce(k.ended_at, k.created_at) AS "endedAt"
FROM claimed c FULL JOIN known k ON true CROSS JOIN LATERAL (
  SELECT coalesce(octet_length(k.response), 0) > ${smallAnswerBytesMax} AS is_large) size`,
};

/**
 * Claims the call for this process, or returns the outcome that it already has. Refuses a call that
 * another process is working on, a key that was used with another body, and work that may have been
 * begun by a process that died.
 */
export async function claimCall(
  sql: Sql,
  name: CallName,
  { bodyHash, status, leaseSeconds, takenOverBy, isRun = false }: ClaimTerms,
): Promise<Claim | Replay> {
  const owner = randomUUID();
  const runBytes = isRun ? 0 : null;
  const values = [...valuesOf(name), bodyHash, owner, leaseSeconds, takenOverBy, runBytes];
  const [row] = await sql.query<Row>(claimStatement, values);
  // Another process claimed the call at the same moment.
  if (!row) throw underWay();
  if (row.isClaimed) return { ...name, owner, status, isRun, isStored: false };
  if (row.bodyHash !== bodyHash) throw new Problem('idempotency_key_reused');
  const { isHeld, status: endedWith, outcome, ...replay } = row;
  if (endedWith !== null && outcome !== null) {
    return { ...name, ...replay, status: endedWith, outcome };
  }
  throw isHeld ? underWay() : new Problem('run_interrupted');
}

/** Reads a large answer. Null: it was erased meanwhile. */
export async function readAnswer(sql: Sql, name: CallName): Promise<Buffer | null> {
  const [row] = await sql.query<Pick<Row, 'response'>>(
    `SELECT response FROM idempotency_keys WHERE ${ofCall}`,
    valuesOf(name),
  );
  return row?.response ?? null;
}

/** Bytes that the outcomes of runs of a tenant take, each with those of its row. */
export async function bytesOfRuns(sql: Sql, tenantId: string): Promise<number> {
  const [row] = await sql.query<{ bytes: string }>(
    `SELECT coalesce(sum(run_bytes), 0) + count(*) * $2 AS bytes
     FROM idempotency_keys WHERE tenant_id = $1 AND run_bytes IS NOT NULL`,
    [tenantId, rowBytes],
  );
  return Number(row?.bytes ?? 0);
}

/** A row and its entries in the indexes. */
export const rowBytes = 1_024;

/**
 * Stores the answer in the transaction of the change: both are committed, or neither is. An answer
 * that holds a new API key is never stored.
 */
export async function storeOutcome(
  sql: Sql,
  sealer: Sealer,
  claim: Claim | undefined,
  result: unknown,
): Promise<void> {
  if (holdsApiKey(result)) return;
  const text = result === undefined ? '' : JSON.stringify(result);
  await storeAnswer(sql, sealer, claim, { text });
}

/** Stores an answer that may show data of tokens, with all that was seen of them. */
export async function storeAnswer(
  sql: Sql,
  sealer: Sealer,
  claim: Claim | undefined,
  answer: Pick<Outcome, 'text' | 'sights' | 'runId'>,
): Promise<void> {
  if (!claim) return;
  const outcome = { ...answer, status: claim.status, outcome: 'completed' };
  const isOurs = await write(sql, sealer, claim, outcome);
  // Another process has taken the call over: this transaction must not commit as well.
  if (!isOurs) throw underWay();
  claim.isStored = true;
}

/**
 * Stores an error that a retry would meet again, unless the change was committed in spite of it.
 */
export async function storeProblem(
  sql: Sql,
  sealer: Sealer,
  claim: Claim,
  problem: Problem,
  shown: Pick<Outcome, 'sights' | 'runId'> = {},
): Promise<void> {
  const { status, code } = problem;
  const outcome = {
    ...shown,
    status,
    text: JSON.stringify(problem.body({ withCause: true })),
    outcome: code,
  };
  await write(sql, sealer, claim, outcome, 'AND status IS NULL');
}

async function write(
  sql: Sql,
  sealer: Sealer,
  claim: Claim,
  { status, text, outcome, runId, sights }: Outcome,
  condition = '',
): Promise<boolean> {
  const sealed = await sealer.seal(placeOf(claim), text);
  const remembered = sights ? JSON.stringify(sights) : null;
  const rows = await sql.query(
    `UPDATE idempotency_keys SET status = $6, sights = $8, run_bytes = $9, outcome = $10,
       run_id = $11, ended_at = now(),
       response = CASE WHEN NOT sights_are_gone($1, $8) THEN $7::bytea END
     WHERE ${ofCall} AND owner = $5 ${condition} RETURNING owner`,
    [
      ...valuesOf(claim),
      claim.owner,
      status,
      sealed,
      remembered,
      claim.isRun ? sealed.length + (remembered?.length ?? 0) : null,
      outcome,
      runId ?? null,
    ],
  );
  return rows.length > 0;
}

/** Frees a call that had no outcome, so that a retry may begin at once. */
export async function release(sql: Sql, claim: Claim): Promise<void> {
  await sql.query(
    `DELETE FROM idempotency_keys WHERE ${ofCall} AND owner = $5 AND status IS NULL`,
    [...valuesOf(claim), claim.owner],
  );
}

function holdsApiKey(result: unknown): boolean {
  if (typeof result !== 'object' || result === null || !('key' in result)) return false;
  return typeof result.key === 'string' && isApiKey(result.key);
}

function underWay(): Problem {
  return new Problem('request_in_progress', { retryAfterSeconds: 1 });
}

const valuesOf = (name: CallName): string[] => [
  name.tenantId,
  name.applicationId,
  name.path,
  name.keyHash,
];

export function placeOf({ tenantId, applicationId, path, keyHash }: CallName): Place {
  const record = `${applicationId} ${path} ${keyHash}`;
  return { table: 'idempotency_keys', column: 'response', tenantId, record };
}
