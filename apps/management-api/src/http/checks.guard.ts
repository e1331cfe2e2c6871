import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Context, type ManagementContext } from '../context';
import { checkKey } from './check-key';
import { checkMediaType } from './check-media-type';
import { checkPermission } from './check-permission';
import { checkResource, resourceOf } from './check-resource';
import { requestOf } from './request';

/**
 * Checks in this order: 401 (and then 429), 403, 415, 404. The body is read after them. Each wait
 * may be long: after it, the caller and the permission are looked up again.
 */
@Injectable()
export class ChecksGuard implements CanActivate {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const handler = context.getHandler();
    request.principal = await checkKey(this.ctx, request);
    if (request.keyHash !== undefined) this.ctx.callRate?.count(request.keyHash);
    checkPermission(request.principal, handler);
    checkMediaType(request);
    const entity = resourceOf(handler);
    if (entity) {
      request.resource = await checkResource(this.ctx, request, entity);
      request.principal = await checkKey(this.ctx, request);
      checkPermission(request.principal, handler);
    }
    request.decidedAt = performance.now();
    return true;
  }
}
