import { isDeepStrictEqual } from 'node:util';
import type { Principal } from '@glovebox/access';
import type { DefinitionFollower, DefinitionSnapshot } from '@glovebox/definitions';
import { Problem } from '@glovebox/problems';
import type { InvokedProxy, ProxyCall } from './caller';

/** Applications expire without a change of any definition. */
const foundAnewMs = 1_000;

/**
 * What the definitions said of a call when its head came. It has to be what they say when data is
 * opened and when bytes leave: a body may take minutes to come, and a connection seconds to open.
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

  /** Throws what the definitions say by now, and asks a store where the lease is over. */
  async confirm(): Promise<void> {
    const definitions = this.follower.fresh() ?? (await this.follower.current());
    this.#compareWith(definitions, performance.now());
  }

  /** The same without asking anybody. False: the lease is over, so nobody here knows. */
  isConfirmed(): boolean {
    const now = performance.now();
    const definitions = this.follower.fresh(now);
    if (!definitions) return false;
    this.#compareWith(definitions, now);
    return true;
  }

  /** Hot path: while no definition changes, two comparisons. */
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
