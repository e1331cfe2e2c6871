import { type Actor, grantFor, type Permission } from '@glovebox/access';
import { Problem } from '@glovebox/problems';

export function requireGrant(
  { principal }: Actor,
  permission: Permission,
  container: string,
): void {
  if (!grantFor(principal, permission, container)) throw outOfBounds(permission, [container]);
}

/** The refusal names so many containers. */
const namedContainers = 5;

/** For tokens in containers that no grant covers. */
export function outOfBounds(permission: Permission, containers: readonly string[]): Problem {
  const different = [...new Set(containers)].sort();
  const named = different.slice(0, namedContainers).join(', ');
  const more =
    different.length > namedContainers ? ` and ${different.length - namedContainers} more` : '';
  return new Problem('permission_denied', {
    detail: `The permission ${permission} is needed for the container ${named}${more}.`,
  });
}

/**
 * For a token that a grant covers and gives nothing of: it says `redact`, or `mask` and there is
 * none.
 */
export function nothingToGive(permission: Permission, transform: 'mask' | 'redact'): Problem {
  const detail =
    transform === 'redact'
      ? `A rule redacts one of the tokens under ${permission}.`
      : `The grant of ${permission} gives the mask of a token, and one of them has none.`;
  return new Problem('permission_denied', { detail });
}
