import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import { requirePermission, type Permission, type Principal } from '@glovebox/access';
import { Problem } from '@glovebox/problems';

const metadata = 'permission';

export const RequirePermission = (permission: Permission): CustomDecorator =>
  SetMetadata(metadata, permission);

const open = 'any-caller';

/** Admits every valid API key. */
export const AnyCaller = (): CustomDecorator => SetMetadata(open, true);

/** The permission that a handler requires, which the documentation also states. */
export const permissionOf = (handler: object): Permission | undefined =>
  Reflect.getMetadata(metadata, handler) as Permission | undefined;

/** Checks the permission. Handlers that declare none are denied. */
export function checkPermission(principal: Principal, handler: object): void {
  if (Reflect.getMetadata(open, handler) === true) return;
  const permission = permissionOf(handler);
  if (permission === undefined) throw new Problem('permission_denied');
  requirePermission(principal, permission);
}
