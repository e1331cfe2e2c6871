import { isSessionKey, personPrincipal, type Principal } from '@glovebox/access';
import type { ManagementContext } from '../context';
import type { ApiRequest } from '../http/request';
import { findSession, noSuchSession } from './sessions';

/** Identifies the person of a request of the console. */
export async function checkSession(
  ctx: ManagementContext,
  request: ApiRequest,
): Promise<Principal> {
  const key = ctx.headers.read(request, 'api-key');
  if (key === undefined || !isSessionKey(key)) throw noSuchSession(key);
  const keyHash = (request.keyHash ??= ctx.keyHash(key));
  ctx.strangers.admitKey(request, keyHash);
  const session = await findSession(ctx, keyHash);
  ctx.strangers.learn(keyHash, session !== undefined);
  if (!session) throw noSuchSession(key);
  request.session = session;
  const { personId: id, tenantId, role } = session;
  return personPrincipal({ id, tenantId, role });
}
