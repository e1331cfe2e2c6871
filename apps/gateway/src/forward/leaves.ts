import { createSecureContext, type SecureContext } from 'node:tls';
import { Issuer } from '@glovebox/certificates';
import type { ForwardAuthority } from '@glovebox/definitions';
import { Shares } from '@glovebox/shares';

/** Made in one turn of the event loop. Each takes about a millisecond. */
const makingsMax = 2;
const makingsWaitingMax = 1_024;
const makingWaitMs = 5_000;

/** A kept one is made again when less of its week is left. */
const leftMs = 24 * 60 * 60_000;

interface Kept {
  readonly context: SecureContext;
  readonly until: number;
  readonly signedBy: string;
}

/** A client's own authority, and the host that it wants to reach. */
interface Wanted {
  readonly tenantId: string;
  readonly authorities: readonly ForwardAuthority[];
  readonly host: string;
}

/**
 * Certificates of hosts with their TLS contexts, kept by tenant, so that no tenant shows a
 * certificate of another one's authority. A tenant that names ever new hosts pushes out its own.
 */
export class Leaves {
  readonly makings = new Shares({
    places: makingsMax,
    waitMs: makingWaitMs,
    waitingMax: makingsWaitingMax,
  });
  readonly places: Shares;
  /** By tenant, then by host; the one that was not used for longest first. */
  readonly #kept = new Map<string, Map<string, Kept>>();
  readonly #issuers = new WeakMap<ForwardAuthority, Issuer>();

  constructor(limits: { readonly placesMax: number }) {
    this.places = new Shares({ places: limits.placesMax });
  }

  /** `left` is asked for where the context is not kept: a signal costs more than all of this. */
  async contextFor(wanted: Wanted, left: () => AbortSignal): Promise<SecureContext> {
    const authority = signingOf(wanted.authorities);
    const known = this.#known(wanted, authority);
    if (known) return known;
    const endTurn = await this.makings.take(wanted.tenantId, { signal: left() });
    setImmediate(endTurn);
    // Made while this one waited.
    return this.#known(wanted, authority) ?? this.#make(wanted, authority);
  }

  #known({ tenantId, host }: Wanted, { certificate }: ForwardAuthority): SecureContext | undefined {
    const ofTenant = this.#kept.get(tenantId);
    const kept = ofTenant?.get(host);
    if (!ofTenant || !kept) return undefined;
    this.#drop(tenantId, host);
    if (kept.signedBy !== certificate || kept.until < Date.now() + leftMs) return undefined;
    this.#keep(tenantId, host, kept);
    return kept.context;
  }

  #make({ tenantId, host }: Wanted, authority: ForwardAuthority): SecureContext {
    const { certificate, key, until } = this.#issuerOf(authority).issue(host);
    const context = createSecureContext({
      ...{ cert: certificate, key, minVersion: 'TLSv1.2' },
      // Without a list Node loads the public roots, which a server needs for nothing.
      ca: [],
    });
    this.#keep(tenantId, host, { context, until, signedBy: authority.certificate });
    return context;
  }

  #issuerOf(authority: ForwardAuthority): Issuer {
    const known = this.#issuers.get(authority);
    if (known) return known;
    const issuer = new Issuer(authority);
    this.#issuers.set(authority, issuer);
    return issuer;
  }

  #keep(tenantId: string, host: string, kept: Kept): void {
    while (!this.places.hasRoom(tenantId) && this.#dropOldest(tenantId));
    if (!this.places.hasRoom(tenantId)) return;
    this.places.enter(tenantId);
    const ofTenant = this.#kept.get(tenantId) ?? new Map<string, Kept>();
    this.#kept.set(tenantId, ofTenant.set(host, kept));
  }

  /** A tenant makes room with its own. For a tenant that has none, the one with most does. */
  #dropOldest(tenantId: string): boolean {
    const owner = this.#kept.has(tenantId) ? tenantId : this.#largest();
    const [host] = (owner !== undefined && this.#kept.get(owner)?.keys()) || [];
    if (owner === undefined || host === undefined) return false;
    this.#drop(owner, host);
    return true;
  }

  #largest(): string | undefined {
    let largest: string | undefined;
    let size = 0;
    for (const [tenantId, ofTenant] of this.#kept) {
      if (ofTenant.size > size) [largest, size] = [tenantId, ofTenant.size];
    }
    return largest;
  }

  #drop(tenantId: string, host: string): void {
    const ofTenant = this.#kept.get(tenantId);
    if (!ofTenant?.delete(host)) return;
    this.places.leave(tenantId);
    if (ofTenant.size === 0) this.#kept.delete(tenantId);
  }
}

/** A replaced authority signs until its time: clients need that long to trust the newest. */
function signingOf(authorities: readonly ForwardAuthority[]): ForwardAuthority {
  const now = Date.now();
  const signing =
    authorities.findLast(({ until }) => until !== null && Date.parse(until) > now) ??
    authorities[0];
  if (!signing) throw new Error('The tenant has no authority of forward mode');
  return signing;
}
