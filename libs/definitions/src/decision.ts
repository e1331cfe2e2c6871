import { isDeepStrictEqual } from 'node:util';
import { Problem } from '@glovebox/problems';
import type { DefinitionFollower } from './follower';
import type { DefinitionSnapshot } from './snapshot';

/** Applications expire without a change of any definition. */
const foundAnewMs = 1_000;

interface Question<Found> {
  /** Throws the problem that a new call would get. */
  find(definitions: DefinitionSnapshot): Found;
  /** The parts of what is found that must not change. */
  readonly parts: readonly (keyof Found)[];
}

/**
 * Holds what the definitions said when a call or a run was decided (docs/adr/0020). They must still
 * say the same when data is opened, when bytes leave and when code starts: a body may take minutes
 * to come, and a connection seconds to open.
 */
export class Decision<Found extends object> {
  #decided: Found;
  /** The last that was found, and by what. */
  #found: Found;
  #definitions: DefinitionSnapshot;
  #revision: number;
  #foundAt: number;

  constructor(
    private readonly follower: Pick<DefinitionFollower, 'fresh' | 'current'>,
    definitions: DefinitionSnapshot,
    private readonly question: Question<Found>,
  ) {
    this.#found = this.#decided = question.find(definitions);
    this.#definitions = definitions;
    this.#revision = definitions.revision;
    this.#foundAt = performance.now();
  }

  get decided(): Found {
    return this.#decided;
  }

  /** Throws when the definitions have changed the decision. Asks a store when the lease is over. */
  async confirm(): Promise<void> {
    this.#requireSame(await this.latest());
  }

  /**
   * Does the same without asking a store. False: the lease is over, so this process cannot know.
   */
  isConfirmed(): boolean {
    const now = performance.now();
    const definitions = this.follower.fresh(now);
    if (!definitions) return false;
    this.#requireSame(this.#by(definitions, now));
    return true;
  }

  /** Decides anew: from here on this must not change. */
  async renew(): Promise<Found> {
    return (this.#decided = await this.latest());
  }

  /** Does the same without asking a store. Undefined: the lease is over. */
  renewNow(): Found | undefined {
    const now = performance.now();
    const definitions = this.follower.fresh(now);
    return definitions && (this.#decided = this.#by(definitions, now));
  }

  /** Finds what a call of this moment would get, changed or not. */
  async latest(): Promise<Found> {
    return this.#by(await this.follower.current());
  }

  /** Hot path: two comparisons as long as no definition changes. */
  #by(definitions: DefinitionSnapshot, now = performance.now()): Found {
    const { revision } = definitions;
    const isUnchanged = definitions === this.#definitions && revision === this.#revision;
    if (isUnchanged && now - this.#foundAt < foundAnewMs) return this.#found;
    this.#found = this.question.find(definitions);
    this.#definitions = definitions;
    this.#revision = revision;
    this.#foundAt = now;
    return this.#found;
  }

  #requireSame(found: Found): void {
    if (found === this.#decided) return;
    const isSame = this.question.parts.every((part) =>
      isDeepStrictEqual(found[part], this.#decided[part]),
    );
    if (!isSame) throw new Problem('changed_meanwhile');
  }
}
