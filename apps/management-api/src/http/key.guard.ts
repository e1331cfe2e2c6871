import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { isApiKey } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import { Context, type ManagementContext } from '../context';
import { requestOf } from './request';

/** First: who calls. One 401 for every kind of wrong key. */
@Injectable()
export class KeyGuard implements CanActivate {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const key = this.ctx.headers.read(request, 'api-key');
    if (key === undefined || !isApiKey(key)) throw new Problem('invalid_api_key');
    const definitions = await this.ctx.definitions.follower.current();
    const hash = this.ctx.keyHash(key);
    const principal = definitions.principalByKeyHash(hash);
    if (!principal) throw new Problem('invalid_api_key');
    this.ctx.keyUses.note(hash);
    request.principal = principal;
    return true;
  }
}
