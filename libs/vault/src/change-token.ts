import { isDeepStrictEqual } from 'node:util';
import type { Actor, Principal } from '@glovebox/access';
import { record, type Sql } from '@glovebox/database';
import { normalTokenId } from '@glovebox/expressions';
import { invalid, notFound, Problem } from '@glovebox/problems';
import type { Sealer } from '@glovebox/seal';
import { fromWire, isJsonObject, mergePatch } from '@glovebox/wire';
import {
  madeOfData,
  refuseToFree,
  refuseToFreeByMoving,
  refuseToLearn,
  refuseToUnmask,
} from './change-limits';
import { refuseUnwieldy } from './document-bounds';
import { KeyedHashes } from './fingerprints';
import { OpeningBudget } from './openings/opening-budget';
import { openOptions, showTokens, shownIn, type Viewer } from './sights/shown-tokens';
import { requireGrant } from './refusals';
import { placeOf, type TokenRow, type TokenView } from './token';
import { sealRow } from './seal-row';
import {
  containerOf,
  deleteRow,
  lockTokenRow,
  replaceRow,
  type LockedRow,
} from './statements/token-rows';
import { validateToken } from './valid-token';

type Members = Readonly<Record<string, unknown>>;

const changeable = [
  'data',
  'mask',
  'containers',
  'metadata',
  'destinations',
  'searchIndexes',
  'fingerprintExpression',
  'expiresAt',
] as const;

/**
 * Applies a merge patch (RFC 7386) to the token as it is now, and makes its mask, fingerprint and
 * terms anew. To move a token, a caller needs a grant on the container that it leaves and on the
 * one that it enters, and must not see more of it there.
 */
export async function updateToken(
  sql: Sql,
  sealer: Sealer,
  actor: Viewer,
  id: string,
  patch: unknown,
): Promise<TokenView> {
  const { tenantId, actorId } = actor.principal;
  const row = await lockToken(sql, tenantId, id);
  requireGrant(actor, 'token:update', row.container);
  const change = await changeOf(sealer, actor.principal, row, patch);
  if (change) {
    const { changes, merged } = change;
    refuseToLearn(actor.principal, row.container, changes, merged);
    const token = validateToken(merged);
    requireGrant(actor, 'token:update', token.container);
    refuseToUnmask(actor.principal, row.container, token.container);
    refuseToFree(actor, row.destinations, token.destinations);
    refuseToFreeByMoving(actor, row.container, token.container);
    const sealed = await sealRow(sealer, new KeyedHashes(sealer), tenantId, token);
    await replaceRow(sql, { tenantId, modifiedBy: actorId }, sealed);
  }
  const look = {
    permission: 'token:update',
    operation: 'token.update',
    entityType: 'token',
    entityId: id,
    isChange: change !== undefined,
  } as const;
  const [shown] = await showTokens(sql, sealer, actor, look, [id]);
  if (!shown) throw notFound('token');
  return shown;
}

/** Refuses a change that `updateToken` would refuse whatever the patch says. */
export async function requireChangeable(sql: Sql, actor: Actor, id: string): Promise<void> {
  const container = await containerOf(sql, actor.principal.tenantId, id);
  if (container === undefined) throw notFound('token');
  requireGrant(actor, 'token:update', container);
}

export async function deleteToken(sql: Sql, actor: Actor, id: string): Promise<void> {
  const { tenantId, actorId } = actor.principal;
  const row = await lockToken(sql, tenantId, id);
  requireGrant(actor, 'token:delete', row.container);
  await deleteRow(sql, tenantId, id);
  await record(sql, {
    tenantId,
    actorId,
    operation: 'token.delete',
    entityType: 'token',
    entityId: id,
    outcome: 'success',
    traceId: actor.traceId,
  });
}

async function lockToken(sql: Sql, tenantId: string, id: string): Promise<LockedRow> {
  const row = await lockTokenRow(sql, tenantId, id);
  if (!row) throw notFound('token');
  return row;
}

/**
 * The members of a patch that may change a token. Its id and type may be repeated, never changed.
 */
function changesOf(patch: unknown, row: TokenRow): Members {
  if (!isJsonObject(patch)) throw invalid({ body: ['must be a JSON object'] });
  refuseUnwieldy(patch);
  refuseReservedNames(patch);
  const errors: Record<string, string[]> = {};
  if (Object.hasOwn(patch, 'type') && patch.type !== row.type) errors.type = ['cannot be changed'];
  const isOwnId = typeof patch.id === 'string' && normalTokenId(patch.id) === row.id;
  if (Object.hasOwn(patch, 'id') && !isOwnId) errors.id = ['cannot be changed'];
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return fromWire(changeable, patch);
}

/** Undefined if the patch changes nothing. */
async function changeOf(
  sealer: Sealer,
  principal: Principal,
  row: LockedRow,
  patch: unknown,
): Promise<{ readonly changes: Members; readonly merged: Members } | undefined> {
  const sent = changesOf(patch, row);
  if (Object.keys(sent).length === 0) return undefined;
  const document = await documentOf(sealer, row);
  const shown = await shownOf(sealer, principal, row, document);
  const isRepeated = (name: string): boolean =>
    Object.hasOwn(shown, name) && isDeepStrictEqual(sent[name], shown[name]);
  const changes = Object.fromEntries(Object.entries(sent).filter(([name]) => !isRepeated(name)));
  if (Object.keys(changes).length === 0) return undefined;
  return { changes, merged: mergePatch(document, changes) as Members };
}

/**
 * The members that a GET shows to a caller that is shown the mask: sent back, they change nothing.
 * Nothing else is compared: an answer that tells equal from different would confirm a guess.
 */
async function shownOf(
  sealer: Sealer,
  principal: Principal,
  row: LockedRow,
  document: Members,
): Promise<Members> {
  if (shownIn(principal, 'token:read', row.container) !== 'mask') return {};
  const { tenantId, id, mask } = row;
  const expressions = madeOfData.flatMap((name) =>
    Object.hasOwn(document, name) ? [[name, document[name]] as const] : [],
  );
  const data =
    mask && (await new OpeningBudget().open(sealer, placeOf(tenantId, id, 'mask'), mask));
  return { ...Object.fromEntries(expressions), ...(mask === null ? {} : { data }) };
}

const reservedMembers = new Set(['__proto__', 'constructor', 'prototype']);

/** A patch may have none of these names at any depth. Data that is sent whole may have them. */
function refuseReservedNames(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (reservedMembers.has(name)) {
      throw new Problem('invalid_json', { detail: 'The patch has a member with a reserved name.' });
    }
    refuseReservedNames(member);
  }
}

/** The input of a creation that would make the token as it is. */
async function documentOf(sealer: Sealer, row: LockedRow): Promise<Members> {
  const opening = new OpeningBudget();
  const options = await openOptions(sealer, opening, row);
  return {
    id: row.id,
    type: row.type,
    data: await opening.open(sealer, placeOf(row.tenantId, row.id, 'data'), row.data),
    ...options,
    containers: [row.container],
    metadata: row.metadata ?? {},
    ...(row.destinations ? { destinations: row.destinations } : {}),
    ...(row.expiresAt ? { expiresAt: row.expiresAt.toISOString() } : {}),
  };
}
