import { createHmac, randomUUID } from 'node:crypto';
import { isApiKey } from '@glovebox/access';
import type { Sql } from '@glovebox/database';
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
  /** The transaction that did the work has stored the answer. */
  isStored: boolean;
}

interface Outcome {
  readonly status: number;
  readonly body: unknown;
}

/** The outcome of an earlier call, with the grants that a caller needs now to see it. */
interface Replay extends Outcome {
  readonly sights: readonly Sight[];
}

interface Row {
  bodyHash: string;
  isHeld: boolean;
  status: number | null;
  response: Buffer | null;
  sights: readonly Sight[] | null;
}

/** A claim whose owner died becomes free after this time. */
const leaseSeconds = 30;
const keptFor = `interval '24 hours'`;
const ofCall = `tenant_id = $1 AND application_id = $2 AND path = $3 AND key_hash = $4`;

/**
 * Hashes with a secret key, so that neither the caller's key nor a low-entropy body can be guessed.
 */
export async function keyedHash(sealer: Sealer, text: string): Promise<string> {
  const key = await sealer.lastingKey('idempotency');
  return createHmac('sha256', key).update(text).digest('base64url');
}

/**
 * Claims the call for this process, or returns the outcome that it already has. Refuses a call that
 * another process is working on, and a key that was used with another body.
 */
export async function claimCall(
  sql: Sql,
  sealer: Sealer,
  name: CallName,
  { bodyHash, status }: { bodyHash: string; status: number },
): Promise<Claim | Replay> {
  const row = await findCall(sql, name);
  if (row) {
    if (row.bodyHash !== bodyHash) throw new Problem('idempotency_key_reused');
    if (row.status !== null && row.response) {
      const text = (await sealer.open(placeOf(name), row.response)).toString('utf8');
      const body = text === '' ? undefined : (JSON.parse(text) as unknown);
      return { status: row.status, body, sights: row.sights ?? [] };
    }
    if (row.isHeld) throw underWay();
  }
  const owner = randomUUID();
  const claimed = await sql.query(
    `INSERT INTO idempotency_keys AS k
       (tenant_id, application_id, path, key_hash, body_hash, owner, lease_until, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7), now())
     ON CONFLICT (application_id, path, key_hash) DO UPDATE
       SET body_hash = excluded.body_hash, owner = excluded.owner,
         lease_until = excluded.lease_until, status = NULL, response = NULL, sights = NULL,
         created_at = excluded.created_at
       WHERE (k.status IS NULL AND k.lease_until < now()) OR k.created_at < now() - ${keptFor}
     RETURNING owner`,
    [...valuesOf(name), bodyHash, owner, leaseSeconds],
  );
  // Another process claimed the call first and is still working on it.
  if (claimed.length === 0) throw underWay();
  return { ...name, owner, status, isStored: false };
}

async function findCall(sql: Sql, name: CallName): Promise<Row | undefined> {
  const [row] = await sql.query<Row>(
    `SELECT body_hash AS "bodyHash", lease_until >= now() AS "isHeld", status, response, sights
     FROM idempotency_keys WHERE ${ofCall} AND created_at >= now() - ${keptFor}
       AND (status IS NOT NULL OR lease_until >= now())`,
    valuesOf(name),
  );
  return row;
}

/**
 * Stores the answer in the transaction of the change: both are committed, or neither is. An answer
 * that holds a new API key is never stored. `kept` replaces an answer that must not be stored
 * whole. `sights` are the grants on tokens that a caller needs to be shown the answer again.
 */
export async function storeOutcome(
  sql: Sql,
  sealer: Sealer,
  claim: Claim | undefined,
  result: unknown,
  { kept = result, sights }: { readonly kept?: unknown; readonly sights?: readonly Sight[] } = {},
): Promise<void> {
  if (!claim || holdsApiKey(result)) return;
  const outcome = { status: claim.status, body: kept, sights };
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
): Promise<void> {
  const outcome = { status: problem.status, body: problem.body() };
  await write(sql, sealer, claim, outcome, 'AND status IS NULL');
}

async function write(
  sql: Sql,
  sealer: Sealer,
  claim: Claim,
  { status, body, sights }: Outcome & { readonly sights?: readonly Sight[] | undefined },
  condition = '',
): Promise<boolean> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const sealed = await sealer.seal(placeOf(claim), text);
  const rows = await sql.query(
    `UPDATE idempotency_keys SET status = $6, response = $7, sights = coalesce($8, sights)
     WHERE ${ofCall} AND owner = $5 ${condition} RETURNING owner`,
    [...valuesOf(claim), claim.owner, status, sealed, sights ? JSON.stringify(sights) : null],
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

function placeOf({ tenantId, applicationId, path, keyHash }: CallName): Place {
  const record = `${applicationId} ${path} ${keyHash}`;
  return { table: 'idempotency_keys', column: 'response', tenantId, record };
}
