import type { Sql } from '@glovebox/database';
import type { Sealer } from '@glovebox/seal';
import type { KeyedHashes } from './fingerprints';
import { columns } from './shown-tokens';
import { placeOf, type TokenRow } from './token';
import type { ValidToken } from './valid-token';

/** A token as its row will hold it. */
export interface SealedRow {
  readonly id: string;
  readonly isNamed: boolean;
  readonly type: string;
  readonly container: string;
  readonly data: Buffer;
  readonly mask: Buffer | null;
  readonly options: Buffer | null;
  readonly metadata: string;
  readonly fingerprint: string;
  readonly expiresAt: Date | null;
  readonly terms: readonly string[];
}

/** Everything of the token that is confidential, sealed to its row or hashed. */
export async function sealRow(
  sealer: Sealer,
  hashes: KeyedHashes,
  tenantId: string,
  token: ValidToken,
): Promise<SealedRow> {
  const { id, isNamed, type, container, metadata, expiresAt, options } = token;
  const seal = (column: 'data' | 'mask' | 'options', text: string): Promise<Buffer> =>
    sealer.seal(placeOf(tenantId, id, column), text);
  const hasOptions = Object.keys(options).length > 0;
  return {
    id,
    isNamed,
    type,
    container,
    metadata: JSON.stringify(metadata),
    expiresAt,
    data: await seal('data', token.text),
    mask: token.mask === undefined ? null : await seal('mask', JSON.stringify(token.mask)),
    options: hasOptions ? await seal('options', JSON.stringify(options)) : null,
    fingerprint: await fingerprintOf(hashes, tenantId, token),
    terms: await termsOf(hashes, tenantId, token),
  };
}

export function fingerprintOf(
  hashes: KeyedHashes,
  tenantId: string,
  { type, data, options, fingerprinted }: ValidToken,
): Promise<string> {
  return options.fingerprint_expression === undefined
    ? hashes.fingerprint(tenantId, type, 'data', data)
    : hashes.fingerprint(tenantId, type, 'expression', fingerprinted);
}

async function termsOf(
  hashes: KeyedHashes,
  tenantId: string,
  { indexed, metadata }: ValidToken,
): Promise<string[]> {
  const terms = await Promise.all([
    ...indexed.map((text) => hashes.dataTerm(tenantId, text)),
    ...Object.entries(metadata).map(([name, value]) => hashes.metadataTerm(tenantId, name, value)),
  ]);
  return [...new Set(terms)];
}

/**
 * Stores what is not there yet and gives back what was stored: an id that exists is left out. In
 * the order of the ids, so that two who store the same ones do not wait for each other in a circle.
 */
export async function insertRows(
  sql: Sql,
  { tenantId, createdBy }: { tenantId: string; createdBy: string },
  rows: readonly SealedRow[],
): Promise<TokenRow[]> {
  // The id of an expired token is free, though its row may not have been cleared away yet.
  const named = rows.filter(({ isNamed }) => isNamed).map(({ id }) => id);
  if (named.length > 0) {
    await sql.query(
      `DELETE FROM tokens WHERE tenant_id = $1 AND id = ANY ($2::text[]) AND expires_at <= now()`,
      [tenantId, named],
    );
  }
  const stored = await sql.query<TokenRow>(
    `INSERT INTO tokens (tenant_id, id, type, container, data, mask, options, metadata, fingerprint,
       expires_at, created_by, created_at)
     SELECT $1, n.*, $11, now() FROM unnest($2::text[], $3::text[], $4::text[], $5::bytea[],
       $6::bytea[], $7::bytea[], $8::jsonb[], $9::text[], $10::timestamptz[])
       AS n (id, type, container, data, mask, options, metadata, fingerprint, expires_at)
     ORDER BY n.id
     ON CONFLICT (tenant_id, id) DO NOTHING RETURNING ${columns}`,
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
       fingerprint = $8, expires_at = $9, modified_by = $10, modified_at = now()
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
  // An id that was taken keeps the terms of the token that has it; the caller refuses it anyway.
  await sql.query(
    `INSERT INTO token_terms (tenant_id, term, token_id)
     SELECT $1, n.* FROM unnest($2::text[], $3::text[]) AS n (term, token_id)
     ON CONFLICT DO NOTHING`,
    [tenantId, terms.map(({ term }) => term), terms.map(({ id }) => id)],
  );
}
