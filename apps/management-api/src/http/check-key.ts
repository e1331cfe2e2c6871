import { invalidApiKey, isApiKey, type Principal } from '@glovebox/access';
import type { DefinitionSnapshot } from '@glovebox/definitions';
import type { Problem } from '@glovebox/problems';
import { checkSession } from '../console/check-session';
import type { ManagementContext } from '../context';
import type { ApiRequest } from './request';

/** Identifies the caller. Returns a promise only if a store must be asked. */
export function checkKey(
  ctx: ManagementContext,
  request: ApiRequest,
): Principal | Promise<Principal> {
  if (request.isOfConsole) return checkSession(ctx, request);
  const keyHash = (request.keyHash ??= hashOf(ctx, request));
  const { follower } = ctx.definitions;
  const principalIn = (definitions: DefinitionSnapshot): Principal => {
    const principal = definitions.principalByKeyHash(keyHash);
    if (!principal) throw refused(ctx, request);
    ctx.keyUses.note(keyHash);
    return principal;
  };
  const definitions = follower.fresh();
  return definitions ? principalIn(definitions) : follower.current().then(principalIn);
}

function hashOf(ctx: ManagementContext, request: ApiRequest): string {
  const key = ctx.headers.read(request, 'api-key');
  if (key === undefined || !isApiKey(key)) throw refused(ctx, request);
  return ctx.keyHash(key);
}

const refused = ({ headers }: ManagementContext, request: ApiRequest): Problem =>
  invalidApiKey(headers.read(request, 'api-key'), request.rawHeaders);
