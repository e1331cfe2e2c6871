import { grantFor, grantsFor, type Principal } from '@glovebox/access';
import {
  readAndRecord,
  record,
  type Database,
  type SealedToken,
  type Sql,
  type Use,
} from '@glovebox/database';
import { invalid, Problem } from '@glovebox/problems';
import type { Sealer } from '@glovebox/seal';
import {
  dataPlace,
  isTokenRequest,
  toTokenView,
  usable,
  validateToken,
  type Actor,
  type TokenInput,
  type TokenRow,
  type TokenView,
} from './token';

const tokensPerDocument = 1_000;

const columns = `id, tenant_id AS "tenantId", type, container, metadata, expires_at AS "expiresAt",
  created_by AS "createdBy", created_at AS "createdAt",
  modified_by AS "modifiedBy", modified_at AS "modifiedAt"`;

/** Tokens: stored sealed, given out only to who may have them, with a record of each use. */
export class Vault {
  constructor(private readonly sealer: Sealer) {}

  async createToken(
    sql: Sql,
    { principal, traceId }: Actor,
    input: TokenInput,
  ): Promise<TokenView> {
    const token = validateToken(input);
    const { tenantId, applicationId } = principal;
    const transform = grantFor(principal, 'token:create', token.container);
    if (!transform) throw outOfBounds('token:create');

    const sealed = await this.sealer.seal(dataPlace(tenantId, token.id), token.data);
    const [row] = await sql.query<TokenRow>(
      `INSERT INTO tokens
         (tenant_id, id, type, container, data, metadata, expires_at, created_by, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now())
       ON CONFLICT (tenant_id, id) DO NOTHING RETURNING ${columns}`,
      [
        tenantId,
        token.id,
        token.type,
        token.container,
        sealed,
        JSON.stringify(token.metadata),
        token.expiresAt,
        applicationId,
      ],
    );
    if (!row) throw new Problem('conflict', { detail: 'A token with this id exists already.' });
    await record(sql, {
      tenantId,
      actorId: applicationId,
      operation: 'token.create',
      entityType: 'token',
      entityId: token.id,
      outcome: 'success',
      traceId,
    });
    const data: unknown = JSON.parse(token.data);
    return { ...toTokenView(row, 'created'), ...(transform === 'reveal' ? { data } : {}) };
  }

  /** With its data only where a rule reveals it; that is a use, and recorded as one. */
  async readToken(sql: Sql, { principal, traceId }: Actor, id: string): Promise<TokenView> {
    const { tenantId, applicationId } = principal;
    const [row] = await sql.query<TokenRow>(
      `SELECT ${columns} FROM tokens
       WHERE tenant_id = $1 AND id = $2 AND (expires_at IS NULL OR expires_at > now())`,
      [tenantId, id],
    );
    if (!row) throw new Problem('not_found');
    const transform = grantFor(principal, 'token:read', row.container);
    if (!transform) throw outOfBounds('token:read');
    const view = toTokenView(row, 'read');
    if (transform !== 'reveal') return view;

    const use = {
      tenantId,
      actorId: applicationId,
      operation: 'token.read',
      entityType: 'token',
      entityId: id,
      traceId,
    };
    const values = await this.#open(sql, use, [{ container: '/', transform }], [id]);
    return { ...view, data: values.get(id) };
  }

  /**
   * The values of tokens for one use: all of them or a Problem, and never without the record.
   * Unknown, foreign, deleted and expired ids answer alike.
   */
  detokenize(
    sql: Sql,
    principal: Principal,
    use: Use,
    tokenIds: readonly string[],
  ): Promise<ReadonlyMap<string, unknown>> {
    return this.#open(sql, use, usable(grantsFor(principal, 'token:use')), tokenIds);
  }

  /**
   * Stores what a document holds, all or nothing, and gives back the document with tokens in place
   * of values: plain values become ids, `{type, data}` becomes a token.
   */
  async tokenize(database: Database, actor: Actor, document: unknown): Promise<unknown> {
    let left = tokensPerDocument;
    return database.transaction(async (sql) => {
      const store = async (input: TokenInput): Promise<TokenView> => {
        left -= 1;
        if (left < 0) {
          throw invalid({ '': [`must hold at most ${tokensPerDocument} values to tokenize`] });
        }
        return this.createToken(sql, actor, input);
      };
      const walk = async (value: unknown): Promise<unknown> => {
        if (value === null || value === undefined) return null;
        if (typeof value !== 'object') return (await store({ type: 'token', data: value })).id;
        if (isTokenRequest(value)) return store(value);
        if (Array.isArray(value)) {
          const items: unknown[] = [];
          for (const item of value) items.push(await walk(item));
          return items;
        }
        const members: [string, unknown][] = [];
        for (const [name, member] of Object.entries(value))
          members.push([name, await walk(member)]);
        return Object.fromEntries(members);
      };
      return walk(document);
    });
  }

  async #open(
    sql: Sql,
    use: Use,
    grants: readonly { container: string; transform: string | null }[],
    tokenIds: readonly string[],
  ): Promise<ReadonlyMap<string, unknown>> {
    const values = new Map<string, unknown>();
    if (tokenIds.length === 0) return values;
    const found = await readAndRecord(sql, use, grants, tokenIds);
    refuseUnknown(tokenIds, found);
    for (const { id, transform, data } of found) {
      if (transform === null || data === null) throw outOfBounds('token:use');
      const opened = await this.sealer.open(dataPlace(use.tenantId, id), data);
      values.set(id, JSON.parse(opened.toString('utf8')));
    }
    return values;
  }
}

function refuseUnknown(wanted: readonly string[], found: readonly SealedToken[]): void {
  if (found.length === wanted.length) return;
  const known = new Set(found.map(({ id }) => id));
  const missing = wanted.filter((id) => !known.has(id));
  throw new Problem('unknown_token', { detail: `Not found: ${missing.join(', ')}.` });
}

function outOfBounds(permission: string): Problem {
  return new Problem('permission_denied', {
    detail: `The permission ${permission} is needed for the container of the token.`,
  });
}
