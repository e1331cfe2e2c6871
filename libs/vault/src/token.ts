import { randomUUID } from 'node:crypto';
import type { ContainerGrant, Principal } from '@glovebox/access';
import { isTokenId, normalTokenId } from '@glovebox/expressions';
import { invalid } from '@glovebox/problems';
import type { Place } from '@glovebox/seal';

/** What a caller asks to store, as it came in. */
export interface NewToken {
  readonly id?: string | undefined;
  readonly type?: string | undefined;
  readonly data?: unknown;
  readonly containers?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly expires_at?: string | undefined;
}

/** The same before anybody has looked at it. */
export type TokenInput = { readonly [Name in keyof NewToken]?: unknown };

/** A token as callers see it. */
export interface TokenView {
  id: string;
  tenant_id: string;
  type: string;
  data?: unknown;
  containers: string[];
  metadata?: Record<string, string>;
  expires_at?: string;
  created_by?: string;
  created_at: string;
  modified_by?: string;
  modified_at?: string;
}

export interface TokenRow {
  id: string;
  tenantId: string;
  type: string;
  container: string;
  metadata: Record<string, string> | null;
  expiresAt: Date | null;
  createdBy: string | null;
  createdAt: Date;
  modifiedBy: string | null;
  modifiedAt: Date | null;
}

const containerOfType: Readonly<Record<string, string>> = { token: '/general/high/' };
const dataBytesMax = 1024 * 1024;

/** What is to be stored, once nothing is wrong with it. */
export interface ValidToken {
  readonly id: string;
  readonly type: string;
  readonly container: string;
  readonly data: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly expiresAt: Date | null;
}

/** Looks at everything: tokens come from callers, and from customers' code as well. */
export function validateToken(input: TokenInput): ValidToken {
  const errors: Record<string, string[]> = {};
  const { type = 'token', id, data, containers = [], metadata = {}, expires_at: expires } = input;
  const defaultContainer =
    typeof type === 'string' && Object.hasOwn(containerOfType, type)
      ? containerOfType[type]
      : undefined;
  if (defaultContainer === undefined) errors.type = ['is not a known token type'];
  if (id !== undefined && !(typeof id === 'string' && isTokenId(id))) {
    errors.id = [
      'must be 3 to 400 characters without white space and # / \\ + ? [ ] | & = % < > { } ^',
    ];
  }
  if (data === undefined) errors.data = ['is required'];
  const text = JSON.stringify(data ?? null);
  if (Buffer.byteLength(text) > dataBytesMax) errors.data = ['must be at most 1 MiB as JSON'];
  const [container, ...others] = Array.isArray(containers) ? (containers as unknown[]) : [null];
  if (others.length > 0) errors.containers = ['must name at most one container'];
  if (container !== undefined && !isContainer(container)) {
    errors.containers = ['must be a path of letters, digits, _ and -, such as /pci/high/'];
  }
  if (!isStringMap(metadata)) errors.metadata = ['must be an object of strings, without NUL'];
  const expiresAt = expires === undefined ? null : instantOf(expires);
  if (expiresAt && !(expiresAt.getTime() > Date.now())) {
    errors.expires_at = ['must be an ISO 8601 time in the future'];
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return {
    id: typeof id === 'string' ? normalTokenId(id) : randomUUID(),
    type: String(type),
    container: isContainer(container) ? container.toLowerCase() : (defaultContainer ?? '/'),
    data: text,
    metadata: isStringMap(metadata) ? metadata : {},
    expiresAt,
  };
}

/** Postgres keeps neither NUL nor half a surrogate pair. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

function instantOf(value: unknown): Date {
  return new Date(typeof value === 'string' && instant.test(value) ? value : Number.NaN);
}

function isStringMap(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).every(
      ([name, member]) =>
        typeof member === 'string' && isStorable(name) && isStorable(member) && name !== '',
    )
  );
}

/** In a document to tokenize: an object that asks for a token of a type we know. */
export function isTokenRequest(value: object): value is TokenInput {
  return (
    'type' in value &&
    typeof value.type === 'string' &&
    'data' in value &&
    Object.hasOwn(containerOfType, value.type)
  );
}

/** `/a/b/`: segments between slashes, one at each end. */
export function isContainer(text: unknown): text is string {
  return typeof text === 'string' && /^\/(?:[A-Za-z0-9_-]+\/)*$/.test(text) && text.length <= 200;
}

export function dataPlace(tenantId: string, id: string): Place {
  return { table: 'tokens', column: 'data', tenantId, record: id };
}

/** Answers of create know of no change; all others do, even of none. */
export function toTokenView(row: TokenRow, answer: 'created' | 'read'): TokenView {
  const changedBy = row.modifiedBy ?? row.createdBy;
  return {
    id: row.id,
    tenant_id: row.tenantId,
    type: row.type,
    containers: [row.container],
    ...(row.metadata && Object.keys(row.metadata).length > 0 ? { metadata: row.metadata } : {}),
    ...(row.expiresAt ? { expires_at: row.expiresAt.toISOString() } : {}),
    ...(row.createdBy ? { created_by: row.createdBy } : {}),
    created_at: row.createdAt.toISOString(),
    ...(answer === 'read' && changedBy ? { modified_by: changedBy } : {}),
    ...(answer === 'read' ? { modified_at: (row.modifiedAt ?? row.createdAt).toISOString() } : {}),
  };
}

export interface Actor {
  readonly principal: Principal;
  readonly traceId: string;
}

/** For a use only what may be revealed counts: there is nothing to inject in place of the value. */
export function usable(grants: readonly ContainerGrant[]): {
  container: string;
  transform: string | null;
}[] {
  return grants.map(({ container, transform }) => ({
    container,
    transform: transform === 'reveal' ? transform : null,
  }));
}
