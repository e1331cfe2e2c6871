import { requirePermission, type Principal } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import type { NewToken } from '@glovebox/vault';
import type { ReactorContext } from './context';

type ServiceCall = (method: string, params: unknown) => Promise<unknown>;

/** What `req.svc` reaches: the vault, as the application that the resource carries. */
export function serviceCalls(
  { database, vault }: Pick<ReactorContext, 'database' | 'vault'>,
  application: Principal | null,
  traceId: string,
): ServiceCall {
  return async (method, params) => {
    if (!application) throw new Problem('invalid_api_key');
    const actor = { principal: application, traceId };
    switch (method) {
      case 'svc.tokenize':
        requirePermission(application, 'token:create');
        return vault.tokenize(database, actor, params);
      case 'svc.tokens.create':
        requirePermission(application, 'token:create');
        return database.transaction((sql) => vault.createToken(sql, actor, params as NewToken));
      case 'svc.tokens.retrieve':
        requirePermission(application, 'token:read');
        return vault.readToken(database, actor, String(params));
      default:
        throw new Problem('not_found', { detail: 'The client has no such call.' });
    }
  };
}
