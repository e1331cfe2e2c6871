import type { Permission } from './permissions';
import type { Principal } from './principal';

/** What code gets of a token it may also have read itself, and may store. */
const comeWithUse: readonly Permission[] = ['token:read', 'token:search', 'token:create'];

/** Whoever gives applications their permissions may lend any. */
const mayLend = ({ permissions }: Principal, permission: Permission): boolean =>
  permissions.includes('application:update') ||
  permissions.includes(permission) ||
  (comeWithUse.includes(permission) && permissions.includes('token:use'));

/** A caller as its own code acts. A session makes no tokens itself, but code that it may start does. */
export const inCode = (caller: Principal): Principal =>
  caller.type === 'person' && caller.permissions.includes('token:use')
    ? { ...caller, permissions: [...caller.permissions, 'token:create'] }
    : caller;

/**
 * Code acts as an application. The permissions of the application that the lender may not give to
 * code of its own (docs/adr/0108).
 */
export function notLent(application: Principal, lender: Principal): readonly Permission[] {
  const { permissions, rules } = application;
  const all = new Set([...permissions, ...rules.flatMap((rule) => rule.permissions)]);
  return [...all].filter((permission) => !mayLend(lender, permission));
}

/** The application as far as the lender may act as it. */
export function asLent(application: Principal, lender: Principal): Principal {
  const isLent = (permission: Permission): boolean => mayLend(lender, permission);
  return {
    ...application,
    permissions: application.permissions.filter(isLent),
    rules: application.rules.map((rule) => ({
      ...rule,
      permissions: rule.permissions.filter(isLent),
    })),
  };
}
