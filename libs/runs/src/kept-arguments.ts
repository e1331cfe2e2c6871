import { readerVersion, type PreparedStatement, type Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import type { Sealer } from '@glovebox/seal';
import { runPlace, type Arguments } from './run-columns';

/** How the arguments of a run that failed are kept, so that it can be repeated. */
export interface Keeping {
  readonly until: Date;
  /** The tokens that they name. */
  readonly tokenIds: readonly string[];
  /** Runs of the tenant; the newest are kept. */
  readonly runsMax: number;
}

/**
 * Copies the sealed columns of runs that have just left the queue; they never leave Postgres.
 * `ended` has the rows, `kept` the JSON of `keepingValues`. Nothing is kept that names a token which
 * is gone: whoever erases with tokens has passed by already.
 */
export const insertionOfArguments = (kept: string): string => `
  INSERT INTO kept_arguments (tenant_id, run_id, reactor_id, arguments, callback_url, timeout_ms,
    token_keys, kept_until, reader_version)
  SELECT tenant_id, id, reactor_id, arguments, callback_url, timeout_ms,
    ARRAY(SELECT token_key(tenant_id, token) FROM unnest(token_ids) token), kept_until,
    reader_version
  FROM json_to_recordset(${kept}::json) AS keeping (nth bigint, token_ids text[],
    kept_until timestamptz)
  JOIN ended USING (nth)
  WHERE NOT EXISTS (
    SELECT FROM unnest(token_ids) token WHERE NOT EXISTS (
      SELECT FROM tokens t WHERE t.tenant_id = ended.tenant_id AND t.id = token
        AND (t.expires_at IS NULL OR t.expires_at > now())))
  ON CONFLICT DO NOTHING`;

export const keepingValues = (kept: readonly (Keeping | undefined)[]): string =>
  JSON.stringify(
    kept.flatMap((keeping, at) =>
      keeping
        ? [{ nth: at + 1, token_ids: keeping.tokenIds, kept_until: keeping.until.toISOString() }]
        : [],
    ),
  );

/** The ids of runs begin with their time. */
const trimStatement: PreparedStatement = {
  name: 'trim-kept-arguments',
  text: `DELETE FROM kept_arguments WHERE ctid = ANY (ARRAY(
    SELECT k.ctid FROM kept_arguments k WHERE tenant_id = $1 AND run_id IN (
      SELECT run_id FROM kept_arguments WHERE tenant_id = $1
      ORDER BY run_id DESC OFFSET $2 LIMIT 100)))`,
};

/** Forgets the oldest of a tenant that has too many. */
export async function trimKeptArguments(
  sql: Sql,
  tenantId: string,
  runsMax: number,
): Promise<void> {
  await sql.query(trimStatement, [tenantId, runsMax]);
}

/** A run that failed, as it can be repeated. */
export interface KeptRun {
  readonly reactorId: string;
  readonly args: Arguments;
  readonly callbackUrl: string;
  readonly timeoutMs: number;
}

/** Opens what is kept of a run. Undefined: its time is over, or it was never kept. */
export async function openKeptRun(
  sql: Sql,
  sealer: Sealer,
  run: { readonly tenantId: string; readonly id: string },
): Promise<KeptRun | undefined> {
  const { tenantId, id } = run;
  const [row] = await sql.query<{
    reactorId: string;
    args: Buffer;
    callbackUrl: Buffer;
    timeoutMs: number;
    readerVersion: number;
  }>(
    `SELECT reactor_id AS "reactorId", arguments AS args, callback_url AS "callbackUrl",
       timeout_ms AS "timeoutMs", reader_version AS "readerVersion"
     FROM kept_arguments WHERE tenant_id = $1 AND run_id = $2 AND kept_until > now()`,
    [tenantId, id],
  );
  if (!row) return undefined;
  if (row.readerVersion > readerVersion) {
    throw new Problem('newer_definition', {
      detail: 'This process is older than the release that accepted the run.',
      retryAfterSeconds: 1,
    });
  }
  const [args, callbackUrl] = await Promise.all([
    sealer.open(runPlace(tenantId, id, 'arguments'), row.args),
    sealer.open(runPlace(tenantId, id, 'callback_url'), row.callbackUrl),
  ]);
  return {
    reactorId: row.reactorId,
    args: JSON.parse(args.toString('utf8')) as Arguments,
    callbackUrl: callbackUrl.toString('utf8'),
    timeoutMs: row.timeoutMs,
  };
}
