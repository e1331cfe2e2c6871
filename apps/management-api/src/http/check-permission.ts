import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import { requirePermission, type Permission, type Principal } from '@glovebox/access';
import { Problem } from '@glovebox/problems';

const metadata = 'permission';

export const RequirePermission = (permission: Permission): CustomDecorator =>
  SetMetadata(metadata, permission);

const open = 'any-caller';

/** Admits every valid API key. */
export const AnyCaller = (): CustomDecorator => SetMetadata(open, true);

const peoplesMetadata = 'permission-of-people';

/** Opens a handler to people by another permission than to applications. */
export const PeopleNeed = (permission: Permission): CustomDecorator =>
  SetMetadata(peoplesMetadata, permission);

const closed = 'closed-to-people';

/** Closes a handler to people of the console, and says why. */
export const NotForPeople = (why: string): CustomDecorator => SetMetadata(closed, why);

/** The permission that a handler requires, which the documentation also states. */
export const permissionOf = (handler: object): Permission | undefined =>
  Reflect.getMetadata(metadata, handler) as Permission | undefined;

/** Checks the permission. Handlers that declare none are denied. */
export function checkPermission(principal: Principal, handler: object): void {
  const isPerson = principal.type === 'person';
  const why = Reflect.getMetadata(closed, handler) as string | undefined;
  if (isPerson && why !== undefined) throw new Problem('permission_denied', { detail: why });
  if (Reflect.getMetadata(open, handler) === true) return;
  const ofPeople = Reflect.getMetadata(peoplesMetadata, handler) as Permission | undefined;
  const permission = (isPerson ? ofPeople : undefined) ?? permissionOf(handler);
  if (permission === undefined) throw new Problem('permission_denied');
  requirePermission(principal, permission);
}
