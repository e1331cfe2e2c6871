import type { Sql } from '@glovebox/database';
import type { TokenRow } from '../token';
import { isLive, rowColumns } from './live-tokens';

/** The content of a token's row. */
export interface SealedRow {
  readonly id: string;
  readonly isNamed: boolean;
  readonly type: string;
  readonly container: string;
  readonly data: Buffer;
  readonly mask: Buffer | null;
  readonly options: Buffer | null;
  readonly metadata: string;
  readonly destinations: readonly string[] | null;
  readonly fingerprint: string;
  readonly expiresAt: Date | null;
  readonly terms: readonly string[];
}

export interface LockedRow extends TokenRow {
  readonly data: Buffer;
  readonly mask: Buffer | null;
  readonly options: Buffer | null;
}

/** Locks the live token against other writers until the end of the transaction. */
export async function lockTokenRow(
  sql: Sql,
  tenantId: string,
  id: string,
): Promise<LockedRow | undefined> {
  const [row] = await sql.query<LockedRow>(
    `SELECT ${rowColumns}, data, mask, options FROM tokens t
     WHERE t.tenant_id = $1 AND t.id = $2 AND ${isLive}
     FOR UPDATE`,
    [tenantId, id],
  );
  return row;
}

export async function containerOf(
  sql: Sql,
  tenantId: string,
  id: string,
): Promise<string | undefined> {
  const [row] = await sql.query<{ container: string }>(
    `SELECT container FROM tokens t WHERE t.tenant_id = $1 AND t.id = $2 AND ${isLive}`,
    [tenantId, id],
  );
  return row?.container;
}

/**
 * Stores the rows whose id is free, and returns those. Rows are inserted in the order of their ids:
 * two transactions with the same ids must not wait for each other.
 */
export async function insertRows(
  sql: Sql,
  { tenantId, createdBy }: { tenantId: string; createdBy: string },
  rows: readonly SealedRow[],
): Promise<TokenRow[]> {
  // The id of an expired token is free, even where its row has not been deleted yet.
  const named = rows.filter(({ isNamed }) => isNamed).map(({ id }) => id);
  if (named.length > 0) {
    await sql.query(
      `DELETE FROM tokens t
       WHERE t.tenant_id = $1 AND t.id = ANY ($2::text[]) AND NOT ${isLive}`,
      [tenantId, named],
    );
  }
  const stored = await sql.query<TokenRow>(
    `INSERT INTO tokens (tenant_id, id, type, container, data, mask, options, metadata, fingerprint,
       expires_at, created_by, created_at, destinations)
     SELECT $1, id, type, container, data, mask, options, metadata, fingerprint, expires_at, $11, now(),
       string_to_array(destinations, ' ')
     FROM unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::bytea[], $7::bytea[],
       $8::jsonb[], $9::text[], $10::timestamptz[], $12::text[])
       AS n (id, type, container, data, mask, options, metadata, fingerprint, expires_at, destinations)
     ORDER BY n.id
     ON CONFLICT (tenant_id, id) DO NOTHING RETURNING ${rowColumns}`,
    [
      tenantId,
      rows.map(({ id }) => id),
      rows.map(({ type }) => type),
      rows.map(({ container }) => container),
      rows.map(({ data }) => data),
      rows.map(({ mask }) => mask),
      rows.map(({ options }) => options),
      rows.map(({ metadata }) => metadata),
      rows.map(({ fingerprint }) => fingerprint),
      rows.map(({ expiresAt }) => expiresAt),
      createdBy,
      rows.map(({ destinations }) => destinations?.join(' ') ?? null),
    ],
  );
  await insertTerms(sql, tenantId, rows);
  return stored;
}

export async function replaceRow(
  sql: Sql,
  { tenantId, modifiedBy }: { tenantId: string; modifiedBy: string },
  row: SealedRow,
): Promise<void> {
  await sql.query(
    `UPDATE tokens SET container = $3, data = $4, mask = $5, options = $6, metadata = $7,
       fingerprint = $8, expires_at = $9, modified_by = $10, modified_at = now(), destinations = $11
     WHERE tenant_id = $1 AND id = $2`,
    [
      tenantId,
      row.id,
      row.container,
      row.data,
      row.mask,
      row.options,
      row.metadata,
      row.fingerprint,
      row.expiresAt,
      modifiedBy,
      row.destinations,
    ],
  );
  await sql.query(`DELETE FROM token_terms WHERE tenant_id = $1 AND token_id = $2`, [
    tenantId,
    row.id,
  ]);
  await insertTerms(sql, tenantId, [row]);
}

async function insertTerms(sql: Sql, tenantId: string, rows: readonly SealedRow[]): Promise<void> {
  const terms = rows.flatMap(({ id, terms }) => terms.map((term) => ({ id, term })));
  if (terms.length === 0) return;
  // A token whose id was taken keeps its terms: the caller refuses the new one anyway.
  await sql.query(
    `INSERT INTO token_terms (tenant_id, term, token_id)
     SELECT $1, n.* FROM unnest($2::text[], $3::text[]) AS n (term, token_id)
     ON CONFLICT DO NOTHING`,
    [tenantId, terms.map(({ term }) => term), terms.map(({ id }) => id)],
  );
}

export async function deleteRow(sql: Sql, tenantId: string, id: string): Promise<void> {
  await sql.query('DELETE FROM tokens WHERE tenant_id = $1 AND id = $2', [tenantId, id]);
}
