import {
  Injectable,
  SetMetadata,
  type CanActivate,
  type CustomDecorator,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { requirePermission, type Permission } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import { actorOf, requestOf } from './request';

const metadata = 'permission';

export const RequirePermission = (permission: Permission): CustomDecorator =>
  SetMetadata(metadata, permission);

/** Second: may the caller. A handler that names no permission is nobody's. */
@Injectable()
export class PermissionGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const permission = this.reflector.get<Permission | undefined>(metadata, context.getHandler());
    if (permission === undefined) throw new Problem('permission_denied');
    requirePermission(actorOf(requestOf(context)).principal, permission);
    return true;
  }
}
