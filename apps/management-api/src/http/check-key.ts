import { isApiKey, type Principal } from '@glovebox/access';
import type { DefinitionSnapshot } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import type { ManagementContext } from '../context';
import type { ApiRequest } from './request';

/**
 * Identifies the caller. Every kind of wrong key gets the same 401. Returns a promise only if a
 * store must be asked.
 */
export function checkKey(
  ctx: ManagementContext,
  request: ApiRequest,
): Principal | Promise<Principal> {
  const keyHash = (request.keyHash ??= hashOf(ctx, request));
  const { follower } = ctx.definitions;
  const definitions = follower.fresh();
  return definitions
    ? principalOf(ctx, definitions, keyHash)
    : follower.current().then((current) => principalOf(ctx, current, keyHash));
}

function hashOf({ headers, keyHash }: ManagementContext, request: ApiRequest): string {
  const key = headers.read(request, 'api-key');
  if (key === undefined || !isApiKey(key)) throw new Problem('invalid_api_key');
  return keyHash(key);
}

function principalOf(
  { keyUses }: ManagementContext,
  definitions: DefinitionSnapshot,
  keyHash: string,
): Principal {
  const principal = definitions.principalByKeyHash(keyHash);
  if (!principal) throw new Problem('invalid_api_key');
  keyUses.note(keyHash);
  return principal;
}
