import { isDeepStrictEqual } from 'node:util';
import type { Principal } from '@glovebox/access';
import type { DefinitionFollower, DefinitionSnapshot } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import type { InvokedProxy, ProxyCall } from './caller';

/** Applications expire without a change of any definition. */
const foundAnewMs = 1_000;

/**
 * The proxy and the caller that the definitions named when the head of a call came. They must still
 * be the same when data is opened and when bytes leave: a body may take minutes to come, and a
 * connection seconds to open.
 */
export class Decision {
  readonly #call: ProxyCall;
  #definitions: DefinitionSnapshot;
  #revision: number;
  #foundAt: number;

  constructor(
    private readonly follower: DefinitionFollower,
    private readonly find: (definitions: DefinitionSnapshot) => ProxyCall,
    definitions: DefinitionSnapshot,
  ) {
    this.#call = find(definitions);
    this.#definitions = definitions;
    this.#revision = definitions.revision;
    this.#foundAt = performance.now();
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
    this.#compareWith(definitions, performance.now());
  }

  /**
   * Does the same without asking a store. False: the lease is over, so this process cannot know.
   */
  isConfirmed(): boolean {
    const now = performance.now();
    const definitions = this.follower.fresh(now);
    if (!definitions) return false;
    this.#compareWith(definitions, now);
    return true;
  }

  /** Hot path: two comparisons as long as no definition changes. */
  #compareWith(definitions: DefinitionSnapshot, now: number): void {
    const isUnchanged =
      definitions === this.#definitions && definitions.revision === this.#revision;
    if (isUnchanged && now - this.#foundAt < foundAnewMs) return;
    const { revision } = definitions;
    const { proxy, caller } = this.find(definitions);
    const isSame =
      isDeepStrictEqual(proxy, this.#call.proxy) && isDeepStrictEqual(caller, this.#call.caller);
    if (!isSame) throw new Problem('changed_meanwhile');
    this.#definitions = definitions;
    this.#revision = revision;
    this.#foundAt = now;
  }
}
