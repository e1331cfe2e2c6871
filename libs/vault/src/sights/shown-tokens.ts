import {
  type Actor,
  type ContainerGrant,
  grantsFor,
  type Permission,
  type Principal,
  type Transform,
} from '@glovebox/access';
import type { Sql } from '@glovebox/database';
import type { Problem } from '@glovebox/problems';
import type { Sealer } from '@glovebox/seal';
import type { LargeOpenings } from '../openings/large-openings';
import {
  openedAtOnceMax,
  openedBytesMax,
  OpeningBudget,
  tooManyBytes,
  type SealedValue,
} from '../openings/opening-budget';
import { outOfBounds } from '../refusals';
import { boundsOf, type BoundToken, type Reach } from '../reach';
import type { Sights } from './sights';
import {
  foreseeUse,
  readLook,
  refusedUse,
  type LookRow,
  type Use,
} from '../statements/read-and-record';
import { fromStoredOptions } from '../stored-options';
import { placeOf, toTokenView, type TokenOptions, type TokenRow, type TokenView } from '../token';

/** An actor whose answer may be kept. */
export interface Viewer extends Actor {
  readonly sights?: Sights | undefined;
  /** Of a run whose code is shown the tokens. */
  readonly reach?: Reach | undefined;
}

/** A look at tokens: its permission, and its name in the audit log. */
export interface TokenLook {
  readonly permission: Permission;
  readonly operation: string;
  readonly entityType: 'token' | 'tenant';
  readonly entityId: string;
  readonly isChange?: boolean;
  readonly isList?: boolean;
}

/** Public applications write and never read: they get the mask where a grant reveals. */
export function showingGrants(principal: Principal, permission: Permission): ContainerGrant[] {
  return grantsFor(principal, permission).map((grant) => ({
    ...grant,
    transform:
      principal.type === 'public' && grant.transform === 'reveal' ? 'mask' : grant.transform,
  }));
}

/** The grant that decides for tokens of this container, or undefined where none covers it. */
export const grantIn = (
  principal: Principal,
  permission: Permission,
  container: string,
): ContainerGrant | undefined =>
  showingGrants(principal, permission).find((grant) => container.startsWith(grant.container));

export const shownIn = (
  principal: Principal,
  permission: Permission,
  container: string,
): Transform | undefined => grantIn(principal, permission, container)?.transform;

/**
 * Shows tokens as the caller's grants say, and leaves out ids that do not exist. To reveal is to
 * use: the statement that reads also writes the record. With `largeOpenings`, more than a little
 * waits for a place there.
 */
export async function showTokens(
  sql: Sql,
  sealer: Sealer,
  actor: Viewer,
  look: TokenLook,
  tokenIds: readonly string[],
  largeOpenings?: LargeOpenings,
): Promise<TokenView[]> {
  if (tokenIds.length === 0) return [];
  const { principal, sights, reach } = actor;
  const grants = reach ? showingGrants(principal, look.permission) : [];
  const show = async (rows: readonly LookRow[]): Promise<TokenView[]> => {
    // A mask is bound as the data is.
    const given = rows.filter(({ sealed }) => sealed !== null);
    if (reach) await narrow(sql, reach, useOf(actor, look), boundsOf(given, grants));
    for (const row of rows) sights?.see(principal, look.permission, row);
    return openRows(sealer, principal, rows);
  };
  if (!largeOpenings) return show(await readRows(sql, actor, look, tokenIds, Infinity));
  const rows = await readRows(sql, actor, look, tokenIds, openedAtOnceMax);
  if (!isLookDeferred(rows)) return show(rows);
  return largeOpenings.hold(principal.tenantId, async () =>
    show(await readRows(sql, actor, look, tokenIds, Infinity)),
  );
}

/** The statement that read them has recorded that they were revealed. A refusal is a second line. */
async function narrow(
  sql: Sql,
  reach: Reach,
  use: Use,
  bounds: readonly BoundToken[],
): Promise<void> {
  try {
    reach.narrow(bounds);
  } catch (error) {
    const ids = bounds.map(({ id }) => id);
    await foreseeUse(sql, refusedUse(use, ids));
    throw error;
  }
}

const useOf = (
  { principal: { tenantId, actorId }, traceId }: Actor,
  { operation, entityType, entityId }: TokenLook,
): Use => ({ tenantId, actorId, operation, entityType, entityId, traceId });

/** Reads and records, or throws. More bytes than `atOnceMax` are deferred: not yet released. */
export async function readRows(
  sql: Sql,
  actor: Actor,
  look: TokenLook,
  tokenIds: readonly string[],
  atOnceMax: number,
): Promise<LookRow[]> {
  const { permission, isChange = false, isList = false } = look;
  const rows = await readLook(sql, {
    use: useOf(actor, look),
    grants: showingGrants(actor.principal, permission),
    tokenIds,
    limits: {
      bytesMax: openedBytesMax,
      atOnceMax: Math.min(atOnceMax, Number.MAX_SAFE_INTEGER),
    },
    isChange,
    isList,
  });
  if (rows.some(({ isAllowed }) => !isAllowed)) throw refusalOf(permission, rows);
  return rows;
}

export const isLookDeferred = (rows: readonly LookRow[]): boolean => rows[0]?.isDeferred === true;

function refusalOf(permission: Permission, rows: readonly LookRow[]): Problem {
  const outside = rows.filter(({ transform }) => transform === null);
  if (outside.length === 0) return tooManyBytes();
  return outOfBounds(
    permission,
    outside.map(({ container }) => container),
  );
}

export async function openRows(
  sealer: Sealer,
  principal: Principal,
  rows: readonly LookRow[],
): Promise<TokenView[]> {
  const opened = await new OpeningBudget().openAll(sealer, rows.flatMap(sealedIn));
  const next = opened.values();
  return rows.map((row) => {
    const options = row.options === null ? {} : fromStoredOptions(next.next().value);
    const view = withoutHints(principal, row.transform, toTokenView(row, options, 'read'));
    return row.sealed === null ? view : { ...view, data: next.next().value as unknown };
  });
}

/** The options and the data of a row, in this order, without those that are missing. */
function sealedIn({ tenantId, id, transform, options, sealed }: LookRow): SealedValue[] {
  const column = transform === 'reveal' ? 'data' : 'mask';
  return [
    ...(options === null ? [] : [{ place: placeOf(tenantId, id, 'options'), sealed: options }]),
    ...(sealed === null ? [] : [{ place: placeOf(tenantId, id, column), sealed }]),
  ];
}

/**
 * A fingerprint confirms a guess of the data, and a mask that the customer wrote may hold data.
 * Callers that may see nothing of the data get neither. Public applications get no fingerprint:
 * they could try all guesses.
 */
export function withoutHints(
  { type }: Principal,
  transform: Transform | null | undefined,
  view: TokenView,
): TokenView {
  const isHidden = transform !== 'reveal' && transform !== 'mask';
  if (!isHidden && type !== 'public') return view;
  const { fingerprint: _, ...rest } = view;
  if (!isHidden) return rest;
  const { mask: _mask, searchIndexes: _indexes, fingerprintExpression: _made, ...bare } = rest;
  return bare;
}

export async function openOptions(
  sealer: Sealer,
  opening: OpeningBudget,
  {
    tenantId,
    id,
    options,
  }: Pick<TokenRow, 'tenantId' | 'id'> & { readonly options: Buffer | null },
): Promise<TokenOptions> {
  if (options === null) return {};
  return fromStoredOptions(await opening.open(sealer, placeOf(tenantId, id, 'options'), options));
}
