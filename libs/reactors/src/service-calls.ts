import { requirePermission, type Principal } from '@glovebox/access';
import { isTokenId, normalTokenId } from '@glovebox/expressions';
import { Problem, toProblem } from '@glovebox/problems';
import type { TokenInput } from '@glovebox/vault';
import type { ReactorContext } from './context';

type ServiceCall = (method: string, params: unknown) => Promise<unknown>;

/** What `req.svc` reaches: the vault, as the application that the resource carries. */
export function serviceCalls(
  { database, vault }: Pick<ReactorContext, 'database' | 'vault'>,
  application: Principal | null,
  traceId: string,
): ServiceCall {
  const answer: ServiceCall = async (method, params) => {
    if (!application) throw new Problem('invalid_api_key');
    const actor = { principal: application, traceId };
    const [first] = Array.isArray(params) ? (params as unknown[]) : [];
    switch (method) {
      case 'svc.tokenize':
        requirePermission(application, 'token:create');
        return vault.tokenize(database, actor, first);
      case 'svc.tokens.create':
        requirePermission(application, 'token:create');
        return database.transaction((sql) => vault.createToken(sql, actor, membersOf(first)));
      case 'svc.tokens.retrieve':
        requirePermission(application, 'token:read');
        if (typeof first !== 'string' || !isTokenId(first)) throw new Problem('not_found');
        return vault.readToken(database, actor, normalTokenId(first));
      default:
        throw new Problem('not_found', { detail: `${method} is not available in this version.` });
    }
  };
  // Customers' code sees what any caller would see of an error, and nothing of ours.
  return (method, params) =>
    answer(method, params).catch((error: unknown) => {
      const problem = toProblem(error);
      const { message, code, status } = problem;
      throw Object.assign(new Error(message), { code, status, data: problem.body() });
    });
}

function membersOf(value: unknown): TokenInput {
  return typeof value === 'object' && value !== null ? value : {};
}
