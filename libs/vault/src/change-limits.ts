import type { Permission, Principal } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import { wireName } from '@glovebox/wire';
import { areWithin, patternsOf } from './destinations';
import { grantIn, shownIn, type Viewer } from './sights/shown-tokens';

type Members = Readonly<Record<string, unknown>>;

/** The expressions of a token over its data. */
export const madeOfData = ['mask', 'searchIndexes', 'fingerprintExpression'];

/**
 * A new expression over data that stays would show the data, or answer questions about it. Only a
 * caller that is shown the data anyway may write one. A caller that replaces all the data writes
 * expressions over its own.
 */
export function refuseToLearn(
  principal: Principal,
  container: string,
  changes: Members,
  merged: Members,
): void {
  const named = madeOfData.filter(
    (name) => Object.hasOwn(changes, name) && hasExpression(merged[name]),
  );
  const { data } = changes;
  const replacesAll =
    Object.hasOwn(changes, 'data') && (typeof data !== 'object' || Array.isArray(data));
  if (named.length === 0 || replacesAll) return;
  if (shownIn(principal, 'token:update', container) === 'reveal') return;
  throw new Problem('permission_denied', {
    detail:
      `Expressions over stored data in ${named.map(wireName).join(', ')} need a rule that reveals ` +
      'under token:update.',
  });
}

const showing = ['token:read', 'token:search', 'token:use', 'token:update'] as const;
const levels = ['none', 'redact', 'mask', 'reveal'];

/** A caller that may move a token must not see more of it by moving it to another container. */
export function refuseToUnmask(principal: Principal, from: string, to: string): void {
  const levelIn = (permission: Permission, container: string): number =>
    levels.indexOf(shownIn(principal, permission, container) ?? 'none');
  const unmasked = showing.find((one) => levelIn(one, to) > levelIn(one, from));
  if (unmasked === undefined) return;
  throw new Problem('permission_denied', {
    detail: `In the new container ${unmasked} would show this caller more of the token.`,
  });
}

/**
 * Only an application that is trusted with data may let a token go further than before, and no
 * code: it would free a token first, and open it as a free one.
 */
export function refuseToFree(
  { principal, reach }: Viewer,
  before: readonly string[] | null,
  after: readonly string[] | null,
): void {
  reach?.requireKept(after);
  if (isTrusted({ principal, reach }) || isNarrowed(before, after)) return;
  throw new Problem('destination_not_allowed', {
    detail:
      'This caller may narrow the `destinations` of a token, and neither widen nor remove them.',
  });
}

/** The same for the `destinations` of rules: in another container another rule decides. */
export function refuseToFreeByMoving(viewer: Viewer, from: string, to: string): void {
  if (isTrusted(viewer) || from === to) return;
  const freed = showing.find((permission) => {
    const [before, after] = [from, to].map((one) => grantIn(viewer.principal, permission, one));
    return after && !isNarrowed(before?.destinations, after.destinations);
  });
  if (freed === undefined) return;
  throw new Problem('destination_not_allowed', {
    detail: `In the new container the rule of ${freed} would let the token go further.`,
  });
}

const isTrusted = ({ principal, reach }: Pick<Viewer, 'principal' | 'reach'>): boolean =>
  principal.type !== 'public' && reach === undefined;

type Destinations = readonly string[] | null | undefined;

const isNarrowed = (before: Destinations, after: Destinations): boolean =>
  !before || (!!after && areWithin(after, patternsOf(before)));

function hasExpression(document: unknown): boolean {
  if (typeof document === 'string') return document.includes('{{');
  if (typeof document !== 'object' || document === null) return false;
  return Object.values(document).some(hasExpression);
}
