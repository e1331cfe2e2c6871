import type { Principal, Transform } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import { shownIn } from './shown-tokens';
import { outOfBounds } from './refusals';
import type { StoredToken } from './store-tokens';

/** How the answer to a creation shows the tokens of one container. */
export interface Sight {
  readonly container: string;
  readonly transform: Transform;
}

const rank: Readonly<Record<Transform, number>> = { redact: 0, mask: 1, reveal: 2 };

/**
 * The sights of an answer as it is kept. Of a token that was there before, it keeps the name alone.
 */
export function sightsOf(principal: Principal, stored: readonly StoredToken[]): Sight[] {
  const transforms = new Map<string, Transform>();
  for (const { container, isNew } of stored) {
    const shown = shownIn(principal, 'token:create', container);
    if (!shown) throw outOfBounds('token:create');
    const transform = isNew ? shown : 'redact';
    if (rank[transform] >= rank[transforms.get(container) ?? 'redact']) {
      transforms.set(container, transform);
    }
  }
  return [...transforms].map(([container, transform]) => ({ container, transform }));
}

/** Refuses a kept answer to a caller whom a creation would show less by now. */
export function requireSights(principal: Principal, sights: readonly Sight[]): void {
  for (const { container, transform } of sights) {
    const shown = shownIn(principal, 'token:create', container);
    if (!shown) throw outOfBounds('token:create');
    if (rank[shown] >= rank[transform]) continue;
    throw new Problem('permission_denied', {
      detail: 'The answer shows more of a token than the key may see now.',
    });
  }
}
