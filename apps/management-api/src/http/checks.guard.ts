import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Context, type ManagementContext } from '../context';
import { checkKey } from './check-key';
import { checkMediaType } from './check-media-type';
import { checkPermission } from './check-permission';
import { checkRate } from './check-rate';
import { checkResource, resourceOf } from './check-resource';
import { requestOf } from './request';

/**
 * The order of the contract: 401 (and then 429), 403, 415, 404, and only then the body. Each wait may
 * be long: behind it, who calls and what they may is looked up again.
 */
@Injectable()
export class ChecksGuard implements CanActivate {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const handler = context.getHandler();
    request.principal = await checkKey(this.ctx, request);
    const limit = this.ctx.config.RATE_LIMIT_PER_MINUTE;
    if (limit > 0) {
      await checkRate(this.ctx, request, limit);
      request.principal = await checkKey(this.ctx, request);
    }
    checkPermission(request.principal, handler);
    checkMediaType(request);
    const entity = resourceOf(handler);
    if (entity) {
      request.resource = await checkResource(this.ctx, request, entity);
      request.principal = await checkKey(this.ctx, request);
      checkPermission(request.principal, handler);
    }
    return true;
  }
}
