import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { isApiKey, type Principal } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import { Context, type ManagementContext } from '../context';
import { requestOf, type ApiRequest } from './request';

/** First: who calls. One 401 for every kind of wrong key. */
@Injectable()
export class KeyGuard implements CanActivate {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    request.principal = await identify(this.ctx, request);
    return true;
  }
}

export async function identify(ctx: ManagementContext, request: ApiRequest): Promise<Principal> {
  const key = ctx.headers.read(request, 'api-key');
  if (key === undefined || !isApiKey(key)) throw new Problem('invalid_api_key');
  const definitions = await ctx.definitions.follower.current();
  const hash = ctx.keyHash(key);
  const principal = definitions.principalByKeyHash(hash);
  if (!principal) throw new Problem('invalid_api_key');
  ctx.keyUses.note(hash);
  return principal;
}
