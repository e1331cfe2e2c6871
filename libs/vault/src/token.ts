import type { Place } from '@glovebox/seal';

/** What a caller asks to store. */
export interface NewToken {
  readonly id?: string | undefined;
  readonly type?: string | undefined;
  readonly data?: unknown;
  readonly mask?: unknown;
  readonly containers?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly search_indexes?: readonly string[] | undefined;
  readonly fingerprint_expression?: string | undefined;
  readonly deduplicate_token?: boolean | undefined;
  readonly expires_at?: string | undefined;
}

/** The same before anybody has looked at it. */
export type TokenInput = { readonly [Name in keyof NewToken]?: unknown };

/** What a token makes of its data, as it was asked for. */
export interface TokenOptions {
  readonly mask?: unknown;
  readonly search_indexes?: readonly string[];
  readonly fingerprint_expression?: string;
}

/** A token as callers see it. */
export interface TokenView extends TokenOptions {
  id: string;
  tenant_id: string;
  type: string;
  data?: unknown;
  containers: string[];
  metadata?: Record<string, string>;
  fingerprint?: string;
  expires_at?: string;
  created_by?: string;
  created_at: string;
  modified_by?: string;
  modified_at?: string;
}

/** A row, without what is sealed in it. */
export interface TokenRow {
  readonly id: string;
  readonly tenantId: string;
  readonly type: string;
  readonly container: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly fingerprint: string | null;
  readonly expiresAt: Date | null;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly modifiedBy: string | null;
  readonly modifiedAt: Date | null;
}

type SealedColumn = 'data' | 'mask' | 'options';

/** What is sealed in one column of one token opens in no other. */
export function placeOf(tenantId: string, id: string, column: SealedColumn): Place {
  return { table: 'tokens', column, tenantId, record: id };
}

/** Answers of create know of no change; all others do, even of none. */
export function toTokenView(
  row: TokenRow,
  options: TokenOptions,
  answer: 'created' | 'read',
): TokenView {
  const changedBy = row.modifiedBy ?? row.createdBy;
  return {
    id: row.id,
    tenant_id: row.tenantId,
    type: row.type,
    ...options,
    containers: [row.container],
    ...(row.metadata && Object.keys(row.metadata).length > 0 ? { metadata: row.metadata } : {}),
    ...(row.fingerprint === null ? {} : { fingerprint: row.fingerprint }),
    ...(row.expiresAt ? { expires_at: row.expiresAt.toISOString() } : {}),
    ...(row.createdBy ? { created_by: row.createdBy } : {}),
    created_at: row.createdAt.toISOString(),
    ...(answer === 'read' && changedBy ? { modified_by: changedBy } : {}),
    ...(answer === 'read' ? { modified_at: (row.modifiedAt ?? row.createdAt).toISOString() } : {}),
  };
}

/** Which token it is, and nothing of what is in it. */
export function nameOf({ id, tenant_id, type, containers, created_at }: TokenView): TokenView {
  return { id, tenant_id, type, containers, created_at };
}
