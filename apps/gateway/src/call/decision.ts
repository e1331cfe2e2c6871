import { isDeepStrictEqual } from 'node:util';
import type { Principal } from '@glovebox/access';
import type { DefinitionFollower, DefinitionSnapshot } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import type { InvokedProxy, ProxyCall } from './caller';

/** Applications expire without a change of any definition. */
const foundAnewMs = 1_000;

/** Finds what a call needs by definitions, and anew only when it may have changed. */
export class Finding<Found> {
  #found: Found;
  #definitions: DefinitionSnapshot;
  #revision: number;
  #foundAt: number;

  constructor(
    private readonly find: (definitions: DefinitionSnapshot) => Found,
    definitions: DefinitionSnapshot,
  ) {
    this.#found = find(definitions);
    this.#definitions = definitions;
    this.#revision = definitions.revision;
    this.#foundAt = performance.now();
  }

  /** Hot path: two comparisons as long as no definition changes. */
  by(definitions: DefinitionSnapshot, now = performance.now()): Found {
    const { revision } = definitions;
    const isUnchanged = definitions === this.#definitions && revision === this.#revision;
    if (isUnchanged && now - this.#foundAt < foundAnewMs) return this.#found;
    this.#found = this.find(definitions);
    this.#definitions = definitions;
    this.#revision = revision;
    this.#foundAt = now;
    return this.#found;
  }
}

/**
 * The proxy and the caller that the definitions named when the head of a call came. They must still
 * be the same when data is opened and when bytes leave: a body may take minutes to come, and a
 * connection seconds to open.
 */
export class Decision {
  readonly #finding: Finding<ProxyCall>;
  readonly #call: ProxyCall;

  constructor(
    private readonly follower: DefinitionFollower,
    find: (definitions: DefinitionSnapshot) => ProxyCall,
    definitions: DefinitionSnapshot,
  ) {
    this.#finding = new Finding(find, definitions);
    this.#call = this.#finding.by(definitions);
  }

  get proxy(): InvokedProxy {
    return this.#call.proxy;
  }

  get caller(): Principal | null {
    return this.#call.caller;
  }

  /** Throws when the definitions have changed the decision. Asks a store when the lease is over. */
  async confirm(): Promise<void> {
    const definitions = this.follower.fresh() ?? (await this.follower.current());
    this.#requireSame(this.#finding.by(definitions));
  }

  /**
   * Does the same without asking a store. False: the lease is over, so this process cannot know.
   */
  isConfirmed(): boolean {
    const now = performance.now();
    const definitions = this.follower.fresh(now);
    if (!definitions) return false;
    this.#requireSame(this.#finding.by(definitions, now));
    return true;
  }

  #requireSame({ proxy, caller }: ProxyCall): void {
    const isSame =
      isDeepStrictEqual(proxy, this.#call.proxy) && isDeepStrictEqual(caller, this.#call.caller);
    if (!isSame) throw new Problem('changed_meanwhile');
  }
}
