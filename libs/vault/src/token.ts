import { isTokenId, normalTokenId } from '@glovebox/expressions';
import { notFound } from '@glovebox/problems';
import type { Place } from '@glovebox/seal';

/** The members of a token that callers may write. */
export const tokenMembers = [
  'id',
  'type',
  'data',
  'mask',
  'containers',
  'metadata',
  'destinations',
  'searchIndexes',
  'fingerprintExpression',
  'deduplicateToken',
  'expiresAt',
] as const;

/** A token to store, before it is validated. */
export type TokenInput = { readonly [Name in (typeof tokenMembers)[number]]?: unknown };

/** The expressions over its data that a token was created with. */
export interface TokenOptions {
  readonly mask?: unknown;
  readonly searchIndexes?: readonly string[];
  readonly fingerprintExpression?: string;
}

/** A token as a caller sees it. */
export interface TokenView extends TokenOptions {
  readonly id: string;
  readonly tenantId: string;
  readonly type: string;
  readonly data?: unknown;
  readonly containers: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  /** Where the values may go. Absent: anywhere. */
  readonly destinations?: readonly string[];
  readonly fingerprint?: string;
  readonly expiresAt?: Date;
  readonly createdBy?: string;
  readonly createdAt: Date;
  readonly modifiedBy?: string;
  readonly modifiedAt?: Date;
}

/**
 * Normalizes the id of a token that a caller names. Other values are no id, and nothing is found.
 */
export function requireTokenId(value: unknown): string {
  if (typeof value !== 'string' || !isTokenId(value)) throw notFound('token');
  return normalTokenId(value);
}

/** The columns of a row that are not sealed. */
export interface TokenRow {
  readonly id: string;
  readonly tenantId: string;
  readonly type: string;
  readonly container: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly destinations: readonly string[] | null;
  readonly fingerprint: string | null;
  readonly expiresAt: Date | null;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly modifiedBy: string | null;
  readonly modifiedAt: Date | null;
}

type SealedColumn = 'data' | 'mask' | 'options';

/** Each sealed column of each token has its own place. A value does not open in another place. */
export function placeOf(tenantId: string, id: string, column: SealedColumn): Place {
  return { table: 'tokens', column, tenantId, record: id };
}

/**
 * Only the answer to a creation has no `modified` members. All others have them, changed or not.
 */
export function toTokenView(
  row: TokenRow,
  options: TokenOptions,
  answer: 'created' | 'read',
): TokenView {
  const changedBy = row.modifiedBy ?? row.createdBy;
  return {
    id: row.id,
    tenantId: row.tenantId,
    type: row.type,
    ...options,
    containers: [row.container],
    ...(row.metadata && Object.keys(row.metadata).length > 0 ? { metadata: row.metadata } : {}),
    ...(row.destinations === null ? {} : { destinations: row.destinations }),
    ...(row.fingerprint === null ? {} : { fingerprint: row.fingerprint }),
    ...(row.expiresAt ? { expiresAt: row.expiresAt } : {}),
    ...(row.createdBy ? { createdBy: row.createdBy } : {}),
    createdAt: row.createdAt,
    ...(answer === 'read' && changedBy ? { modifiedBy: changedBy } : {}),
    ...(answer === 'read' ? { modifiedAt: row.modifiedAt ?? row.createdAt } : {}),
  };
}
