import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import { requirePermission, type Permission, type Principal } from '@glovebox/access';
import { Problem } from '@glovebox/problems';

const metadata = 'permission';

export const RequirePermission = (permission: Permission): CustomDecorator =>
  SetMetadata(metadata, permission);

const open = 'any-caller';

/** Every valid key may. */
export const AnyCaller = (): CustomDecorator => SetMetadata(open, true);

/** What a handler asks for; also what the documentation says of it. */
export const permissionOf = (handler: object): Permission | undefined =>
  Reflect.getMetadata(metadata, handler) as Permission | undefined;

/** Second: may the caller. A handler that names no permission is nobody's. */
export function checkPermission(principal: Principal, handler: object): void {
  if (Reflect.getMetadata(open, handler) === true) return;
  const permission = permissionOf(handler);
  if (permission === undefined) throw new Problem('permission_denied');
  requirePermission(principal, permission);
}
