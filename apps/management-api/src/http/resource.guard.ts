import {
  Injectable,
  SetMetadata,
  type CanActivate,
  type CustomDecorator,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Problem } from '@glovebox/problems';
import { Context, type ManagementContext } from '../context';
import { inTenant } from '../database/in-tenant';
import { isUuid } from '../validation/fields';
import { actorOf, requestOf } from './request';

const metadata = 'resource';

type Resource = new () => { id: string; tenantId: string };

/** The handler's path names a row of this entity. */
export const OfResource = (entity: Resource): CustomDecorator => SetMetadata(metadata, entity);

/** Fourth, before the body is read: is it there. Unknown, foreign and malformed ids answer alike. */
@Injectable()
export class ResourceGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    @Context() private readonly ctx: ManagementContext,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const entity = this.reflector.get<Resource | undefined>(metadata, context.getHandler());
    if (!entity) return true;
    const request = requestOf(context);
    const { id } = request.params;
    if (!isUuid(id)) throw new Problem('not_found');
    const { tenantId } = actorOf(request).principal;
    const found = await inTenant(this.ctx.dataSource, tenantId, (manager) =>
      manager.findOneBy(entity, { id: id.toLowerCase(), tenantId }),
    );
    if (!found) throw new Problem('not_found');
    request.resource = found;
    return true;
  }
}
