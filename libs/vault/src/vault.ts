import { type Actor, grantsFor, type Permission, type Principal } from '@glovebox/access';
import type { PageQuery, Sql } from '@glovebox/database';
import { inSlices, valueTemplate } from '@glovebox/expressions';
import { notFound, Problem } from '@glovebox/problems';
import type { Sealer } from '@glovebox/seal';
import { deleteToken, requireChangeable, updateToken } from './change-token';
import { refuseUnwieldy } from './document-bounds';
import { judgeToken, type TokenVerdict } from './judge-token';
import { findTokens, type FoundParts, type FoundTokens } from './search/find-tokens';
import { LargeOpenings } from './openings/large-openings';
import {
  openedAtOnceMax,
  openedBytesMax,
  OpeningBudget,
  tooManyBytes,
} from './openings/opening-budget';
import { parseSearchQuery, type Condition } from './search/search-query';
import { showTokens, type Viewer } from './sights/shown-tokens';
import type { Sights } from './sights/sights';
import { boundsOf, elsewhere, type BoundToken, type Reach } from './reach';
import { nothingToGive, outOfBounds } from './refusals';
import { refusedUse, type SealedToken, type Use } from './statements/read-and-record';
import type { UseReader } from './statements/token-uses';
import { storeTokens, type StoredToken } from './store-tokens';
import { placeOf, type TokenInput, type TokenView } from './token';
import type { TokenFilter } from './search/token-filter';
import { tokenizationOf } from './tokenize';
import { validateToken } from './valid-token';

interface AskedOpening {
  readonly principal: Principal;
  readonly permission: Permission;
  readonly sights: Sights | undefined;
  /** Undefined: the values are only shown. */
  readonly reach: Reach | undefined;
}

/**
 * Stores tokens sealed, and gives them only to callers that may have them, with a record of each
 * use. Methods that write take the connection of a transaction, which the caller commits.
 */
export class Vault {
  readonly largeOpenings = new LargeOpenings();

  constructor(
    private readonly sealer: Sealer,
    private readonly uses: UseReader,
  ) {}

  async createToken(sql: Sql, actor: Viewer, input: TokenInput): Promise<StoredToken> {
    const [stored] = await storeTokens(sql, this.sealer, actor, [validateToken(input)]);
    if (!stored) throw new Error('A token was neither stored nor refused');
    return stored;
  }

  /** Shows the data only where a rule reveals it. That is a use, and recorded as one. */
  async readToken(sql: Sql, actor: Viewer, id: string): Promise<TokenView> {
    const look = {
      permission: 'token:read',
      operation: 'token.read',
      entityType: 'token',
      entityId: id,
    } as const;
    const [shown] = await showTokens(sql, this.sealer, actor, look, [id], this.largeOpenings);
    if (!shown) throw notFound('token');
    return shown;
  }

  /** Says what an application may do with a token, without revealing it to who asks. */
  judgeToken(
    sql: Sql,
    asking: Actor,
    asked: { application: Principal; permission: Permission; tokenId: string },
  ): Promise<TokenVerdict> {
    return judgeToken(sql, this.sealer, asking, asked, this.largeOpenings);
  }

  /** Lists a page whose tokens are kept in memory together. */
  async listTokens(
    sql: Sql,
    actor: Viewer,
    filter: TokenFilter,
    query: PageQuery,
  ): Promise<FoundTokens> {
    const { pagination, parts } = await this.findListed(sql, actor, filter, query);
    return { pagination, tokens: await parts.all(sql) };
  }

  /** Finds the page of a list. Its tokens are shown by `parts`. */
  findListed(
    sql: Sql,
    actor: Viewer,
    { ids = [], types = [], metadata = {} }: TokenFilter,
    query: PageQuery,
  ): Promise<FoundParts> {
    const of: Condition[] = [
      ...(ids.length > 0 ? [{ kind: 'equals', column: 'id', values: ids } as const] : []),
      ...(types.length > 0 ? [{ kind: 'equals', column: 'type', values: types } as const] : []),
      ...Object.entries(metadata).map(
        ([name, value]) => ({ kind: 'metadata', name, value }) as const,
      ),
    ];
    const condition: Condition = { kind: 'all', of };
    const wanted = { query, condition, permission: 'token:read' } as const;
    return findTokens(sql, this.sealer, this.largeOpenings, actor, wanted);
  }

  /** Finds the page of a search. Its tokens are shown by `parts`. */
  async findSearched(
    sql: Sql,
    actor: Viewer,
    search: string,
    query: PageQuery,
  ): Promise<FoundParts> {
    const condition = parseSearchQuery(search);
    const wanted = { query, condition, permission: 'token:search' } as const;
    return findTokens(sql, this.sealer, this.largeOpenings, actor, wanted);
  }

  updateToken(sql: Sql, actor: Viewer, id: string, patch: unknown): Promise<TokenView> {
    return updateToken(sql, this.sealer, actor, id, patch);
  }

  requireChangeable(sql: Sql, actor: Actor, id: string): Promise<void> {
    return requireChangeable(sql, actor, id);
  }

  deleteToken(sql: Sql, actor: Actor, id: string): Promise<void> {
    return deleteToken(sql, actor, id);
  }

  /** Stores the values of a document, all or none, and returns it with tokens in their places. */
  async tokenize(sql: Sql, actor: Viewer, document: unknown): Promise<unknown> {
    const { tokens, fill } = await inSlices(tokenizationOf(document));
    const stored = await storeTokens(sql, this.sealer, actor, tokens);
    return fill(stored.map(({ view }) => view));
  }

  /** Replaces expressions in a document by what the caller may read of the tokens. */
  async resolve(actor: Viewer, document: unknown): Promise<unknown> {
    refuseUnwieldy(document);
    const template = valueTemplate(document);
    const { tenantId, actorId } = actor.principal;
    const use: Use = {
      tenantId,
      actorId,
      operation: 'token.detokenize',
      entityType: 'tenant',
      entityId: tenantId,
      traceId: actor.traceId,
    };
    const { principal, sights, reach } = actor;
    const asked = { principal, permission: 'token:read', sights, reach } as const;
    const values = await this.#open(asked, use, template.tokenIds, new OpeningBudget());
    return template.renderInSlices(values);
  }

  /**
   * Returns the values of tokens for one use: all of them or a Problem, and never without the
   * record. Unknown, foreign, deleted and expired ids get the same answer. All look-ups of one
   * request share one opening budget, and narrow its reach before they give a value.
   */
  detokenize(
    principal: Principal,
    use: Use,
    tokenIds: readonly string[],
    reach: Reach,
    opening = new OpeningBudget(),
    sights?: Sights,
  ): Promise<ReadonlyMap<string, unknown>> {
    const asked = { principal, permission: 'token:use', sights, reach } as const;
    return this.#open(asked, use, tokenIds, opening);
  }

  /** Records that tokens were refused to a place that only the values of this use made known. */
  async recordElsewhere(use: Use, tokenIds: readonly string[]): Promise<void> {
    await this.uses.foresee(refusedUse(use, tokenIds));
  }

  /**
   * Refuses and records what `detokenize` would refuse by now, and opens nothing. The operation of
   * the use says in the audit log that no data was used yet.
   */
  async foresee(
    principal: Principal,
    use: Use,
    tokenIds: readonly string[],
    reach: Reach,
  ): Promise<void> {
    if (tokenIds.length === 0) return;
    const permission = 'token:use';
    const grants = grantsFor(principal, permission);
    const limits = { bytesMax: openedBytesMax, atOnceMax: openedBytesMax };
    const found = await this.uses.foresee({ use, grants, tokenIds, limits });
    refuseUnknown(tokenIds, found);
    const bytes = found.reduce((sum, token) => sum + (token.bytes ?? Infinity), 0);
    if (bytes > openedBytesMax) throw refusalOf(permission, found);
    await this.#narrow(reach, use, boundsOf(found, grants));
  }

  /** The statement that read them has recorded a success. A refusal is a second line. */
  async #narrow(reach: Reach | undefined, use: Use, bounds: readonly BoundToken[]): Promise<void> {
    try {
      reach?.narrow(bounds);
    } catch (error) {
      const ids = bounds.map(({ id }) => id);
      await this.recordElsewhere(use, ids);
      throw error;
    }
  }

  /** Hot path of every call with expressions: no work per token but opening it. */
  async #open(
    { principal, permission, sights, reach }: AskedOpening,
    use: Use,
    tokenIds: readonly string[],
    opening: OpeningBudget,
  ): Promise<ReadonlyMap<string, unknown>> {
    if (tokenIds.length === 0) return new Map();
    const grants = grantsFor(principal, permission);
    const bytesMax = opening.bytesLeft;
    const read = async (atOnceMax: number): Promise<SealedToken[]> => {
      const limits = { bytesMax, atOnceMax };
      const found = await this.uses.read({ use, grants, tokenIds, limits });
      refuseUnknown(tokenIds, found);
      return found;
    };
    const openEach = async (found: readonly SealedToken[]): Promise<Map<string, unknown>> => {
      const all = found.map(({ id, transform, sealed }) => {
        if (sealed === null) throw refusalOf(permission, found);
        const column = transform === 'reveal' ? 'data' : 'mask';
        return { place: placeOf(use.tenantId, id, column), sealed };
      });
      await this.#narrow(reach, use, boundsOf(found, grants));
      const values = await opening.openAll(this.sealer, all);
      const byId = new Map<string, unknown>();
      found.forEach((token, at) => {
        byId.set(token.id, values[at]);
        const transform = token.transform === 'reveal' ? 'reveal' : 'mask';
        sights?.see(principal, permission, { ...token, transform });
      });
      return byId;
    };
    const found = await read(openedAtOnceMax);
    if (!isDeferred(found, bytesMax)) return openEach(found);
    return this.largeOpenings.hold(use.tenantId, async () => openEach(await read(bytesMax)));
  }
}

/**
 * True if every token gives something and all of them are within the limit, and still nothing was
 * released.
 */
function isDeferred(found: readonly SealedToken[], bytesMax: number): boolean {
  if (found.some(({ bytes, sealed }) => bytes === null || sealed !== null)) return false;
  return found.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0) <= bytesMax;
}

/** Nothing is opened if one token gives nothing. The error names the worst reason of all tokens. */
function refusalOf(permission: Permission, found: readonly SealedToken[]): Problem {
  const transforms = found.map(({ transform }) => transform);
  const bound = found.filter(({ transform }) => transform === 'elsewhere');
  if (transforms.includes(null)) {
    const outside = found.filter(({ transform }) => transform === null);
    return outOfBounds(
      permission,
      outside.map(({ container }) => container),
    );
  }
  if (bound.length > 0) return elsewhere(bound.map(({ id }) => id));
  if (found.every(({ bytes }) => bytes !== null)) return tooManyBytes();
  return nothingToGive(permission, transforms.includes('redact') ? 'redact' : 'mask');
}

function refuseUnknown(wanted: readonly string[], found: readonly SealedToken[]): void {
  if (found.length === wanted.length) return;
  const known = new Set(found.map(({ id }) => id));
  const missing = wanted.filter((id) => !known.has(id));
  throw new Problem('unknown_token', { detail: `Not found: ${missing.join(', ')}.` });
}
