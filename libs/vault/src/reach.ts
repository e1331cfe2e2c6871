import {
  covers,
  overlapOf,
  type ContainerGrant,
  type DestinationPattern,
  type Place,
} from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import { areWithin, patternsOf } from './destinations';

/** Patterns that what is allowed may come to. The rest of them is allowed no more. */
export const reachMax = 100;
/** Tokens that a refusal names, and that its record does. */
const namedTokens = 5;
const rememberedTokens = 100;

/** A token with the lists that all have to allow where its values go. */
export interface BoundToken {
  readonly id: string;
  readonly lists: readonly (readonly string[])[];
}

interface GrantedToken {
  readonly id: string;
  readonly container: string;
  readonly destinations: readonly string[] | null;
}

/** Those of the tokens that do not go everywhere. Hot path: most calls have none. */
export function boundsOf(
  tokens: readonly GrantedToken[],
  grants: readonly ContainerGrant[],
): readonly BoundToken[] {
  const isRuled = grants.some(({ destinations }) => destinations !== undefined);
  if (!isRuled && tokens.every(({ destinations }) => destinations === null)) return noBounds;
  return tokens.flatMap(({ id, container, destinations }) => {
    const grant = grants.find((one) => container.startsWith(one.container));
    const lists = [destinations, grant?.destinations].filter(
      (list) => list !== undefined && list !== null,
    );
    return lists.length > 0 ? [{ id, lists }] : [];
  });
}

const noBounds: readonly BoundToken[] = [];

/**
 * Where the values may go that one call or one run has opened: where all of their tokens allow it,
 * and all of the rules that granted them.
 */
export class Reach {
  /** Undefined: anywhere. */
  #allowed: readonly DestinationPattern[] | undefined;
  #hosts: readonly string[] | undefined;
  readonly #tokenIds = new Set<string>();
  #place: Place | undefined;

  /** The tokens that narrowed it, as far as a refusal may need them. */
  get tokenIds(): readonly string[] {
    return [...this.#tokenIds];
  }

  /**
   * Counts tokens in before their values are given. Refuses them where nothing would be left, and
   * where the place that the values are sent to would not be.
   */
  narrow(tokens: readonly BoundToken[]): void {
    let allowed = this.#allowed;
    const ids: string[] = [];
    for (const { id, lists } of tokens) {
      for (const list of lists) {
        const patterns = patternsOf(list);
        allowed = (allowed ? overlapOf(allowed, patterns) : patterns).slice(0, reachMax);
        ids.push(id);
      }
    }
    if (ids.length === 0) return;
    const all = [...this.#tokenIds, ...ids];
    if (allowed?.length === 0) throw nowhere(all);
    if (this.#place && !isAllowed(allowed, this.#place)) throw elsewhere(ids);
    this.#allowed = allowed;
    const open = allowed?.filter(({ segments }) => segments.length === 0);
    this.#hosts = open?.map(({ hosts }) => hosts);
    for (const id of all.slice(0, rememberedTokens)) this.#tokenIds.add(id);
  }

  /** True if the values may go to the place. Those that are opened later have to allow it too. */
  allows(place: Place): boolean {
    this.#place = place;
    return isAllowed(this.#allowed, place);
  }

  /**
   * The hosts that code may reach which holds the values. It speaks TLS itself, so that nobody sees
   * which path it asks for: a pattern with a path opens no way. Undefined: any host.
   */
  get hosts(): readonly string[] | undefined {
    return this.#hosts;
  }

  /** Code that holds bound values may not store them where they would be free of their bounds. */
  requireKept(destinations: readonly string[] | null): void {
    const allowed = this.#allowed;
    if (!allowed) return;
    if (destinations && areWithin(destinations, allowed)) return;
    throw new Problem('destination_not_allowed', {
      detail:
        `This run has opened ${named(this.tokenIds)}: what it stores needs \`destinations\` ` +
        'within those.',
    });
  }
}

const isAllowed = (allowed: readonly DestinationPattern[] | undefined, place: Place): boolean =>
  allowed === undefined || allowed.some((pattern) => covers(pattern, place));

/** For values that may not go where the call sends them. */
export const elsewhere = (tokenIds: readonly string[]): Problem =>
  new Problem('destination_not_allowed', {
    detail: `The destination of this call is none of those of ${named(tokenIds)}.`,
  });

const nowhere = (tokenIds: readonly string[]): Problem =>
  new Problem('destination_not_allowed', {
    detail: `No destination is allowed to all of ${named(tokenIds)}.`,
  });

function named(tokenIds: readonly string[]): string {
  const different = [...new Set(tokenIds)];
  const shown = different.slice(0, namedTokens).join(', ');
  return `${different.length === 1 ? 'the token' : 'the tokens'} ${shown}${
    different.length > namedTokens ? ' and others' : ''
  }`;
}
