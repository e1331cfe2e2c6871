import type { Actor } from '@glovebox/access';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import { Context, type ManagementContext } from '../context';
import { checkKey } from './check-key';
import { checkMediaType } from './check-media-type';
import { checkPermission } from './check-permission';
import { checkResource, resourceOf } from './check-resource';
import { EntityTags, isTagged } from './entity-tags';
import { actorOf, requestOf } from './request';

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
    const checkAgain = async (): Promise<Actor> => {
      request.principal = await checkKey(this.ctx, request);
      checkPermission(request.principal, handler);
      return actorOf(request);
    };
    request.checkAgain = checkAgain;
    checkMediaType(request);
    if (isTagged(handler)) {
      const response = context.switchToHttp().getResponse<Response>();
      request.tags = new EntityTags(this.ctx.keyHash, response, request.headers['if-match']);
    }
    const entity = resourceOf(handler);
    if (entity) {
      const { row, version } = await checkResource(this.ctx, request, entity);
      request.resource = row;
      if (request.method === 'GET') request.tags?.tell({ id: row.id, version });
      await checkAgain();
    }
    request.decidedAt = performance.now();
    return true;
  }
}
