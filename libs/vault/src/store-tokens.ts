import { recordEach, type Sql } from '@glovebox/database';
import { pauses } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import type { Sealer } from '@glovebox/seal';
import { KeyedHashes } from './fingerprints';
import { requireGrant } from './refusals';
import {
  showingGrants,
  shownIn,
  showTokens,
  withoutHints,
  type Viewer,
} from './sights/shown-tokens';
import { toTokenView, type TokenRow, type TokenView } from './token';
import { findDuplicateIds } from './statements/find-ids';
import { insertRows, type SealedRow } from './statements/token-rows';
import { sealRow } from './seal-row';
import type { ValidToken } from './valid-token';

/** A token as its creator sees it. It is not new if deduplication found an older one. */
export interface StoredToken {
  readonly view: TokenView;
  readonly isNew: boolean;
}

/** Stores all tokens or none, in a transaction of the caller. The answers are in the same order. */
export async function storeTokens(
  sql: Sql,
  sealer: Sealer,
  actor: Viewer,
  tokens: readonly ValidToken[],
): Promise<StoredToken[]> {
  const { tenantId } = actor.principal;
  for (const { container, destinations } of tokens) {
    requireGrant(actor, 'token:create', container);
    actor.reach?.requireKept(destinations);
  }
  const hashes = new KeyedHashes(sealer);
  const sealed: { readonly row: SealedRow; readonly name: string }[] = [];
  const pause = pauses();
  for (const [at, token] of tokens.entries()) {
    const row = await sealRow(sealer, hashes, tenantId, token);
    // Tokens of one name become one token.
    sealed.push({ row, name: token.deduplicate ? row.fingerprint : String(at) });
    await pause();
  }
  const wanted = sealed.flatMap(({ name }, at) => (tokens[at]?.deduplicate ? [name] : []));
  const existing = await findDuplicates(sql, sealer, actor, [...new Set(wanted)]);
  const fresh = new Map<string, SealedRow>();
  for (const { row, name } of sealed) {
    if (!existing.has(name) && !fresh.has(name)) fresh.set(name, row);
  }
  const views = await insert(sql, actor, [...fresh.values()], tokens);
  return sealed.map(({ name }) => {
    const view = existing.get(name) ?? views.get(fresh.get(name)?.id ?? '');
    if (!view) throw new Error('A token was neither stored nor found');
    return { view, isNew: !existing.has(name) };
  });
}

async function insert(
  sql: Sql,
  actor: Viewer,
  rows: readonly SealedRow[],
  tokens: readonly ValidToken[],
): Promise<Map<string, TokenView>> {
  if (rows.length === 0) return new Map();
  const { tenantId, actorId } = actor.principal;
  const stored = await insertRows(sql, { tenantId, createdBy: actorId }, rows);
  if (stored.length < rows.length) {
    throw new Problem('conflict', { detail: 'A token with this id exists already.' });
  }
  await recordEach(
    sql,
    {
      tenantId,
      actorId,
      operation: 'token.create',
      entityType: 'token',
      outcome: 'success',
      traceId: actor.traceId,
    },
    rows.map(({ id }) => id),
  );
  const valid = new Map(tokens.map((token) => [token.id, token]));
  const views = new Map<string, TokenView>();
  const pause = pauses();
  for (const row of stored) {
    views.set(row.id, toCreatedView(actor, row, valid.get(row.id)));
    await pause();
  }
  return views;
}

/** Shows the data or the mask as the grant to create says: the caller has just sent the data. */
function toCreatedView(
  { principal, sights }: Viewer,
  row: TokenRow,
  token: ValidToken | undefined,
): TokenView {
  const transform = shownIn(principal, 'token:create', row.container);
  sights?.see(principal, 'token:create', { ...row, transform: transform ?? null });
  const shown = { reveal: token?.data, mask: token?.mask, redact: undefined };
  const data = transform && shown[transform];
  const view = withoutHints(
    principal,
    transform,
    toTokenView(row, token?.options ?? {}, 'created'),
  );
  return data === undefined ? view : { ...view, data };
}

/** Finds the live tokens that stand for those to be deduplicated, by fingerprint. */
async function findDuplicates(
  sql: Sql,
  sealer: Sealer,
  actor: Viewer,
  fingerprints: readonly string[],
): Promise<Map<string, TokenView>> {
  if (fingerprints.length === 0) return new Map();
  const { tenantId } = actor.principal;
  const grants = showingGrants(actor.principal, 'token:read');
  const found = await findDuplicateIds(sql, tenantId, fingerprints, grants);
  const look = {
    permission: 'token:read',
    operation: 'token.read',
    entityType: found.length === 1 ? 'token' : 'tenant',
    entityId: found.length === 1 ? (found[0]?.id ?? '') : tenantId,
  } as const;
  const ids = found.map(({ id }) => id);
  const shown = await showTokens(sql, sealer, actor, look, ids);
  const fingerprintOf = new Map(found.map(({ id, fingerprint }) => [id, fingerprint]));
  return new Map(shown.map((view) => [fingerprintOf.get(view.id) ?? '', view]));
}
