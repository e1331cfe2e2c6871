import { type Principal, requirePermission } from '@glovebox/access';
import { readCursor, type PageQuery, type Sql, type SqlPool } from '@glovebox/database';
import { isTokenId } from '@glovebox/expressions';
import { invalid, Problem, toProblem } from '@glovebox/problems';
import { describeError } from '@glovebox/service-host';
import {
  requireTokenId,
  tokenFilterOf,
  tokenMembers,
  type Reach,
  type Sights,
  type TokenFilter,
  type Vault,
  type Viewer,
} from '@glovebox/vault';
import { fromWire, isJsonObject, toWire } from '@glovebox/wire';
import type { ReactorContext } from './context';
import { OpenedValues } from './opened-values';

type ServiceCall = (method: string, params: unknown) => Promise<unknown>;

/**
 * Answers the calls of `req.svc`: they reach the vault as the application of the resource. Each
 * call asks for that application again, because its permissions may be revoked while the code runs.
 * What the code is shown narrows its reach.
 */
export function serviceCalls(
  { database, vault, logger }: Pick<ReactorContext, 'database' | 'vault' | 'logger'>,
  applicationNow: () => Promise<Principal | null>,
  traceId: string,
  reach: Reach,
  opened = new OpenedValues(),
  sights?: Sights,
): ServiceCall {
  const answer: ServiceCall = async (method, params) => {
    const application = await applicationNow();
    if (!application) throw new Problem('application_gone');
    const call = Object.hasOwn(calls, method) ? calls[method] : undefined;
    if (!call) throw new Problem('not_found', { detail: 'There is no such call.' });
    const actor = { principal: application, traceId, sights, reach };
    const [first, second] = Array.isArray(params) ? (params as unknown[]) : [];
    const sql = database.shareOf(application.tenantId);
    opened.addStored(method, first, second);
    const result = await call({ database: sql, vault, actor, first, second });
    opened.add(method, result);
    return result;
  };
  // Customers' code sees of an error what any caller would see, and nothing internal.
  return (method, params) =>
    answer(method, params).catch((error: unknown) => {
      const problem = toProblem(error);
      if (problem.status >= 500) {
        logger.error({ error: describeError(error), traceId }, 'a call of customer code failed');
      }
      const { message, code, status } = problem;
      throw Object.assign(new Error(message), { code, status, data: problem.body() });
    });
}

interface Call {
  readonly database: SqlPool;
  readonly vault: Vault;
  readonly actor: Viewer;
  readonly first: unknown;
  readonly second: unknown;
}

/** Each call needs the permission of the endpoint that does the same, and obeys its rules. */
const calls: Readonly<Record<string, (call: Call) => Promise<unknown>>> = {
  'svc.tokenize': ({ database, vault, actor, first }) => {
    requirePermission(actor.principal, 'token:create');
    const tokenize = (sql: Sql) => vault.tokenize(sql, actor, first);
    return database.transaction(tokenize);
  },
  'svc.detokenize': ({ vault, actor, first }) => {
    requirePermission(actor.principal, 'token:read');
    return vault.resolve(actor, first);
  },
  'svc.tokens.create': ({ database, vault, actor, first }) => {
    requirePermission(actor.principal, 'token:create');
    const input = fromWire(tokenMembers, membersOf(first));
    const create = (sql: Sql) => vault.createToken(sql, actor, input);
    return database.transaction(create).then(({ view }) => toWire(view));
  },
  'svc.tokens.retrieve': ({ database, vault, actor, first }) => {
    requirePermission(actor.principal, 'token:read');
    return vault.readToken(database, actor, requireTokenId(first)).then(toWire);
  },
  'svc.tokens.list': async ({ database, vault, actor, first }) => {
    requirePermission(actor.principal, 'token:read');
    const { filter, query } = listQueryOf(membersOf(first));
    const { pagination, tokens } = await vault.listTokens(database, actor, filter, query);
    return { pagination, data: tokens.map(toWire) };
  },
  'svc.tokens.update': ({ database, vault, actor, first, second }) => {
    requirePermission(actor.principal, 'token:update');
    const id = requireTokenId(first);
    return database.transaction((sql) => vault.updateToken(sql, actor, id, second)).then(toWire);
  },
  'svc.tokens.delete': ({ database, vault, actor, first }) => {
    requirePermission(actor.principal, 'token:delete');
    const id = requireTokenId(first);
    return database.transaction((sql) => vault.deleteToken(sql, actor, id));
  },
};

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

/**
 * Reads `{id, type, metadata, page, size, after}` like the query of `GET /tokens`; id and type may
 * be lists.
 */
function listQueryOf(given: Readonly<Record<string, unknown>>): {
  readonly filter: TokenFilter;
  readonly query: PageQuery;
} {
  const { id, type, metadata, page, size = 20, after, ...unknown } = given;
  if (Object.keys(unknown).length > 0) {
    throw invalid({ body: ['may hold id, type, metadata, page, size and after'] });
  }
  const errors: Record<string, readonly string[]> = {};
  const parts = { ids: listOf(id), types: listOf(type), metadata: metadata ?? {} };
  const filter = tokenFilterOf(parts, errors);
  const cursor = readCursor({ after, page }, isTokenId, errors);
  if (!isWhole(page ?? 1, Number.MAX_SAFE_INTEGER)) errors.page = ['must be a whole number from 1'];
  if (!isWhole(size, 100)) errors.size = ['must be a whole number from 1 to 100'];
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return { filter, query: { page: Number(page ?? 1), size: Number(size), after: cursor } };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [value ?? []].flat();
}

function isWhole(value: unknown, max: number): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max;
}
