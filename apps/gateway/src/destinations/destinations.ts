import { createHash } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import type { DefinitionFollower, TlsDefinition } from '@glovebox/definitions';
import { EgressUnreachable, type Egress, type TlsMaterial } from '@glovebox/egress';
import type { Failure } from '@glovebox/problems';
import { Shares, type Release } from '@glovebox/shares';
import { Destination } from './destination';

/** Connections opened in one turn of the event loop. Each takes about half a millisecond. */
const openingsMax = 8;
const openingsWaitingMax = 4_096;
const openingWaitMs = 5_000;

interface DestinationLimits {
  /** Calls under way to one destination. */
  readonly callsMax: number;
  /** Destinations that connections are kept for, by tenant. One takes about 20 KB. */
  readonly places: Shares;
  /** Connections to them, open or being opened, by tenant. */
  readonly connections: Shares;
  readonly idleMs?: number;
}

/**
 * One pool of connections per tenant, origin and TLS material, so that no tenant sends over a
 * connection that another one has opened. Unused pools are closed, those of replaced material among
 * them.
 */
export class Destinations {
  readonly openings = new Shares({
    places: openingsMax,
    waitMs: openingWaitMs,
    waitingMax: openingsWaitingMax,
  });
  /** By tenant, then by origin and material. */
  readonly #known = new Map<string, Map<string, Destination>>();
  #size = 0;
  readonly #closing = new Set<Promise<void>>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(
    private readonly egress: Egress,
    private readonly definitions: Pick<DefinitionFollower, 'fresh' | 'current'>,
    private readonly limits: DestinationLimits,
  ) {
    const { idleMs = 60_000 } = limits;
    this.#sweeper = setInterval(() => this.#closeIdle(idleMs), idleMs);
    this.#sweeper.unref();
  }

  /** Hot path. The caller must enter the destination at once: an idle one may be closed later. */
  find(tenantId: string, origin: string, tls: TlsDefinition | null): Destination {
    const key = tls ? `${origin} ${fingerprintOf(tls)}` : origin;
    return this.#known.get(tenantId)?.get(key) ?? this.#make(tenantId, origin, key, tls);
  }

  get size(): number {
    return this.#size;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#closeWhere(() => true);
    await Promise.all(this.#closing);
  }

  #make(tenantId: string, origin: string, key: string, tls: TlsDefinition | null): Destination {
    const release = this.#takePlace(tenantId);
    const target = targetOf(origin, tls);
    const destination = new Destination(tenantId, {
      named: namedIn(origin, target),
      isPlain: !target.tls,
      turnToOpen: (signal) => this.#turnToOpen(tenantId, signal),
      open: (signal) => this.#open(tenantId, target, signal),
      callsMax: this.limits.callsMax,
      release,
    });
    const ofTenant = this.#known.get(tenantId) ?? new Map<string, Destination>();
    this.#known.set(tenantId, ofTenant.set(key, destination));
    this.#size += 1;
    return destination;
  }

  /** Callers can name a new destination with each call. */
  #takePlace(tenantId: string): Release {
    const { places } = this.limits;
    while (!places.hasRoom(tenantId)) {
      const longest = this.#idleLongest(this.#givesWayTo(places, tenantId));
      if (!longest) break;
      this.#closeWhere((destination) => destination === longest);
    }
    return places.takeNow(tenantId);
  }

  /** Opens a connection on a place of its tenant, which is held until the connection is closed. */
  async #open(tenantId: string, target: Target, signal: AbortSignal): Promise<Socket> {
    const { connections } = this.limits;
    if (!connections.hasRoom(tenantId)) await Promise.all(this.#closing);
    if (!connections.hasRoom(tenantId)) {
      this.#closeIdle(0, this.#givesWayTo(connections, tenantId));
      await Promise.all(this.#closing);
    }
    const release = connections.takeNow(tenantId);
    try {
      const socket = await this.egress.connect({ ...target, owner: tenantId, signal });
      socket.once('close', release);
      if (socket.destroyed)
        throw new EgressUnreachable('ECONNRESET', target.tls ? 'tls' : 'connect');
      return await this.#whenFresh(socket);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** A thousand connections opened at once would block the thread for everybody else. */
  async #turnToOpen(tenantId: string, signal: AbortSignal): Promise<void> {
    const endTurn = await this.openings.take(tenantId, { signal });
    setImmediate(endTurn);
    if (!this.definitions.fresh()) await this.definitions.current();
    signal.throwIfAborted();
  }

  /** The lease of the definitions may end while many connections are opened. */
  async #whenFresh(socket: Socket): Promise<Socket> {
    if (this.definitions.fresh()) return socket;
    try {
      await this.definitions.current();
    } catch (unknown) {
      socket.destroy();
      throw unknown;
    }
    if (socket.destroyed) throw new EgressUnreachable('ECONNRESET', 'connect');
    return socket;
  }

  /**
   * A tenant that holds places makes room with its own. For a tenant that holds none, any tenant
   * does.
   */
  #givesWayTo(shares: Shares, tenantId: string): string | undefined {
    return shares.heldBy(tenantId) > 0 ? tenantId : undefined;
  }

  #idleLongest(tenantId: string | undefined): Destination | undefined {
    let longest: Destination | undefined;
    for (const destination of this.#all(tenantId)) {
      if (destination.idleSince < (longest?.idleSince ?? Infinity)) longest = destination;
    }
    return longest;
  }

  *#all(tenantId: string | undefined): Generator<Destination> {
    const tenants = tenantId === undefined ? this.#known.keys() : [tenantId];
    for (const tenant of tenants) yield* this.#known.get(tenant)?.values() ?? [];
  }

  #closeIdle(idleMs: number, tenantId?: string): void {
    const until = performance.now() - idleMs;
    this.#closeWhere(({ idleSince }) => idleSince <= until, tenantId);
  }

  #closeWhere(isClosed: (destination: Destination) => boolean, tenantId?: string): void {
    const tenants = tenantId === undefined ? [...this.#known.keys()] : [tenantId];
    for (const tenant of tenants) {
      const ofTenant = this.#known.get(tenant);
      for (const [key, destination] of ofTenant ?? []) {
        if (!isClosed(destination)) continue;
        ofTenant?.delete(key);
        this.#size -= 1;
        const closing = destination.destroy().finally(() => this.#closing.delete(closing));
        this.#closing.add(closing);
      }
      if (ofTenant?.size === 0) this.#known.delete(tenant);
    }
  }
}

interface Target extends TlsMaterial {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** Uses the origin alone and ignores the Host of the request. */
function targetOf(origin: string, tls: TlsDefinition | null): Target {
  const { protocol, hostname: host, port } = new URL(origin);
  const isTls = protocol === 'https:';
  const material = tls ? materialOf(tls) : {};
  return { ...material, host, port: Number(port || (isTls ? 443 : 80)), tls: isTls };
}

/**
 * What the tenant's own URL names and a cause may therefore show: an address in the place of a name
 * with its port, or the port beside a name. The addresses of a name are ours to know.
 */
function namedIn(origin: string, { host, port }: Target): Pick<Failure, 'address' | 'port'> {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) !== 0) return { address, port };
  return new URL(origin).port === '' ? {} : { port };
}

const fingerprints = new WeakMap<TlsDefinition, string>();

/** Names the material without holding it: no private key becomes part of a map's key. */
function fingerprintOf(tls: TlsDefinition): string {
  const known = fingerprints.get(tls);
  if (known !== undefined) return known;
  const hash = createHash('sha256');
  for (const part of [tls.certificate, tls.privateKey, tls.authority]) {
    hash.update(part === null ? '-' : `${part.length}:${part}`);
  }
  const fingerprint = hash.digest('base64');
  fingerprints.set(tls, fingerprint);
  return fingerprint;
}

function materialOf({ certificate, privateKey, authority }: TlsDefinition) {
  return {
    cert: certificate ?? undefined,
    key: privateKey ?? undefined,
    ca: authority ?? undefined,
  };
}
