import { type Actor, grantsFor, type Permission, type Principal } from '@glovebox/access';
import { decidingGrant, recorded, type Grant, type Sql } from '@glovebox/database';
import type { Sealer } from '@glovebox/seal';
import type { Shares } from '@glovebox/shares';
import { openedAtOnceMax, openedBytesMax, Opening, tooManyBytes, type Sealed } from './opening';
import { placeOf, toTokenView, type TokenOptions, type TokenRow, type TokenView } from './token';

/** A look at tokens: under which permission, and what it is called in the audit log. */
export interface Look {
  readonly permission: Permission;
  readonly operation: string;
  readonly entityType: 'token' | 'tenant';
  readonly entityId: string;
  /** Recorded even where nothing is revealed: a change, say. */
  readonly isRecorded?: boolean;
}

/** What a caller gets to see of a token. */
export interface Shown {
  readonly view: TokenView;
  /** Null: no grant covers the token. */
  readonly transform: Grant['transform'] | null;
}

interface ShownRow extends TokenRow {
  readonly transform: Grant['transform'] | null;
  /** Whether all of them together are small enough; else there is nothing of what is sealed. */
  readonly fits: boolean;
  /** Whether there is nothing of what is sealed yet, and no record: it takes a place to open so much. */
  readonly isDeferred: boolean;
  readonly options: Buffer | null;
  readonly sealed: Buffer | null;
}

/** Public applications write and never read: what would be revealed to others is masked for them. */
export function showingGrants(principal: Principal, permission: Permission): Grant[] {
  return grantsFor(principal, permission).map(({ container, transform }) => ({
    container,
    transform: principal.type === 'public' && transform === 'reveal' ? 'mask' : transform,
  }));
}

/** How the data of a token in this container is shown, if a grant covers it. */
export function shownIn(
  principal: Principal,
  permission: Permission,
  container: string,
): Grant['transform'] | undefined {
  const grants = showingGrants(principal, permission);
  return grants.find((grant) => container.startsWith(grant.container))?.transform;
}

/**
 * Tokens as the caller's grants show them, those that are gone left out. To reveal is to use: the
 * record of it is written by the same statement. Where there are places to open much, more than a
 * little waits for one.
 */
export async function showTokens(
  sql: Sql,
  sealer: Sealer,
  { principal, traceId }: Actor,
  look: Look,
  tokenIds: readonly string[],
  largeOpenings?: Shares,
): Promise<Shown[]> {
  if (tokenIds.length === 0) return [];
  const { tenantId, applicationId } = principal;
  const grants = showingGrants(principal, look.permission);
  const read = (atOnceMax: number): Promise<ShownRow[]> =>
    recorded(
      sql.query<ShownRow>(statement, [
        tenantId,
        tokenIds,
        grants.map(({ container }) => container),
        grants.map(({ transform }) => transform),
        applicationId,
        look.operation,
        look.entityType,
        look.entityId,
        traceId,
        look.isRecorded ?? false,
        openedBytesMax,
        atOnceMax,
      ]),
    );
  const openEach = (rows: readonly ShownRow[]): Promise<Shown[]> => open(sealer, principal, rows);
  if (!largeOpenings) return openEach(await read(openedBytesMax));
  const rows = await read(openedAtOnceMax);
  if (!rows.some(({ isDeferred }) => isDeferred)) return openEach(rows);
  return largeOpenings.hold(tenantId, async () => openEach(await read(openedBytesMax)));
}

async function open(
  sealer: Sealer,
  principal: Principal,
  rows: readonly ShownRow[],
): Promise<Shown[]> {
  if (rows.some(({ fits }) => !fits)) throw tooManyBytes();
  const opened = await new Opening().openAll(sealer, rows.flatMap(sealedIn));
  const next = opened.values();
  const shown: Shown[] = [];
  for (const row of rows) {
    const options = row.options === null ? {} : (next.next().value as TokenOptions);
    const whole = toTokenView(row, options, 'read');
    const view = withoutHints(principal, row.transform, whole);
    const data = row.sealed === null ? {} : { data: next.next().value as unknown };
    shown.push({ view: { ...view, ...data }, transform: row.transform });
  }
  return shown;
}

/** Its options and its data, where there are any, in this order. */
function sealedIn({ tenantId, id, transform, options, sealed }: ShownRow): Sealed[] {
  const column = transform === 'reveal' ? 'data' : 'mask';
  return [
    ...(options === null ? [] : [{ place: placeOf(tenantId, id, 'options'), sealed: options }]),
    ...(sealed === null ? [] : [{ place: placeOf(tenantId, id, column), sealed }]),
  ];
}

/**
 * A fingerprint confirms a guess of the data, and what the customer wrote into a mask may be data:
 * neither is for those who are to see nothing of it. Public applications could try all guesses.
 */
export function withoutHints(
  { type }: Principal,
  transform: Grant['transform'] | null | undefined,
  view: TokenView,
): TokenView {
  const isHidden = transform !== 'reveal' && transform !== 'mask';
  if (!isHidden && type !== 'public') return view;
  const { fingerprint: _, ...rest } = view;
  if (!isHidden) return rest;
  const { mask: _mask, search_indexes: _indexes, fingerprint_expression: _made, ...bare } = rest;
  return bare;
}

export async function openOptions(
  sealer: Sealer,
  opening: Opening,
  {
    tenantId,
    id,
    options,
  }: Pick<TokenRow, 'tenantId' | 'id'> & { readonly options: Buffer | null },
): Promise<TokenOptions> {
  if (options === null) return {};
  return (await opening.open(sealer, placeOf(tenantId, id, 'options'), options)) as TokenOptions;
}

export const columns = `id, tenant_id AS "tenantId", type, container, metadata, fingerprint,
  expires_at AS "expiresAt", created_by AS "createdBy", created_at AS "createdAt",
  modified_by AS "modifiedBy", modified_at AS "modifiedAt"`;

const statement = `
WITH shown AS (
  SELECT t.*, g.transform,
    CASE g.transform WHEN 'reveal' THEN t.data WHEN 'mask' THEN t.mask END AS sealed
  FROM tokens t
  LEFT JOIN ${decidingGrant('$3', '$4')} ON true
  WHERE t.tenant_id = $1 AND t.id = ANY ($2::text[])
    AND (t.expires_at IS NULL OR t.expires_at > now())
), size AS (
  SELECT bytes <= $11::bigint AS fits, bytes BETWEEN $12::bigint + 1 AND $11::bigint AS deferred
  FROM (
    SELECT coalesce(sum(coalesce(octet_length(sealed), 0) + coalesce(octet_length(options), 0)), 0)
      AS bytes
    FROM shown
  ) sum
), recorded AS (
  INSERT INTO audit_log
    (tenant_id, actor_id, operation, entity_type, entity_id, outcome, trace_id, token_ids)
  SELECT $1, $5, $6, $7, $8, 'success', $9,
    array_agg(id ORDER BY id) FILTER (WHERE transform = 'reveal')
  FROM shown, size WHERE NOT deferred
  HAVING ($10 AND count(*) > 0) OR bool_or(fits AND transform = 'reveal')
)
SELECT ${columns}, transform, fits, deferred AS "isDeferred",
  CASE WHEN fits AND NOT deferred THEN options END AS options,
  CASE WHEN fits AND NOT deferred THEN sealed END AS sealed
FROM shown, size
ORDER BY array_position($2::text[], id)`;
