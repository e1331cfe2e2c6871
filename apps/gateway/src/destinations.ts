import { createHash } from 'node:crypto';
import { Pool, type Dispatcher } from 'undici';
import type { TlsDefinition } from '@glovebox/definitions';
import type { Egress } from '@glovebox/egress';
import { Problem } from '@glovebox/problems';
import { Breaker } from './breaker';
import { Connection, type Carried, type Connector } from './destination-connection';

export interface DestinationLimits {
  /** Calls under way to one destination. */
  readonly callsMax: number;
  readonly idleMs?: number;
}

/**
 * Where calls go: one pool of connections per tenant, origin and TLS material, so that no tenant sends
 * over a connection that another one has opened. Pools that nobody uses are closed, those of replaced
 * material among them.
 */
export class Destinations {
  readonly #known = new Map<string, Destination>();
  readonly #sweeper: NodeJS.Timeout;
  readonly #idleMs: number;

  constructor(
    private readonly egress: Egress,
    private readonly limits: DestinationLimits,
  ) {
    this.#idleMs = limits.idleMs ?? 60_000;
    this.#sweeper = setInterval(() => this.#closeIdle(this.#idleMs), this.#idleMs);
    this.#sweeper.unref();
  }

  /** Hot path. What is handed out is to be entered at once: an idle one may be closed later. */
  of(tenantId: string, origin: string, tls: TlsDefinition | null): Destination {
    const key = `${tenantId} ${origin} ${tls ? fingerprintOf(tls) : ''}`;
    const known = this.#known.get(key);
    if (known) return known;
    const connector = this.egress.connectorFor(tenantId, tls ? materialOf(tls) : {});
    this.#makeRoom();
    const destination = new Destination(origin, connector, this.limits.callsMax);
    this.#known.set(key, destination);
    return destination;
  }

  get size(): number {
    return this.#known.size;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#known.values()].map((destination) => destination.destroy()));
    this.#known.clear();
  }

  /** Callers may name their destinations by themselves, each time another one. */
  #makeRoom(): void {
    if (this.#known.size >= knownMax) this.#closeIdle(0);
    if (this.#known.size >= knownMax)
      throw new Problem('destination_busy', { retryAfterSeconds: 1 });
  }

  #closeIdle(idleMs: number): void {
    for (const [key, destination] of this.#known) {
      if (!destination.isIdle(idleMs)) continue;
      this.#known.delete(key);
      void destination.destroy();
    }
  }
}

/** A destination takes about 20 KB, besides its connections. */
const knownMax = 5_000;

/** The connections of one tenant to one origin, and what keeps them from harming other calls. */
export class Destination {
  readonly #pool: Pool;
  readonly #breaker = new Breaker();
  readonly #open: (origin: URL | string, options: object) => Connection;
  #calls = 0;
  #usedAt = performance.now();

  constructor(
    private readonly origin: string,
    connector: Connector,
    private readonly callsMax: number,
  ) {
    this.#open = (to, options) => new Connection(to, options, connector, this.#breaker);
    this.#pool = new Pool(origin, {
      ...connectionOptions,
      factory: this.#open,
      connections: callsMax,
      pipelining: 1,
    });
  }

  /** Takes a place, to be given back by `leave`. There is no queue: who waits in one is slow twice. */
  enter(): void {
    if (this.#calls >= this.callsMax) {
      throw new Problem('destination_busy', { retryAfterSeconds: 1 });
    }
    // A connection that is open already needs none of those that fail.
    if (!this.#breaker.admits() && this.#pool.stats.free === 0) {
      throw new Problem('destination_unreachable');
    }
    this.#calls += 1;
  }

  leave(): void {
    this.#calls -= 1;
    this.#usedAt = performance.now();
  }

  dispatch(options: Dispatcher.DispatchOptions, call: Carried): void {
    this.#pool.dispatch(options, call);
  }

  /** Over a connection that was opened for this call, and ends with it. */
  dispatchAnew(options: Dispatcher.DispatchOptions, call: Carried): void {
    const connection = this.#open(this.origin, { ...connectionOptions, pipelining: 0 });
    connection.dispatch(options, call);
    void connection.close();
  }

  isIdle(idleMs: number): boolean {
    return this.#calls === 0 && this.#usedAt < performance.now() - idleMs;
  }

  destroy(): Promise<void> {
    return this.#pool.destroy();
  }
}

const connectionOptions = {
  // Below the 5 s after which many servers hang up, so that it is seldom they who do.
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 60_000,
  maxHeaderSize: 64 * 1024,
  // The exchange keeps the time: these would start anew at each 1xx, and stop while a body is sent.
  headersTimeout: 0,
  bodyTimeout: 0,
};

const fingerprints = new WeakMap<TlsDefinition, string>();

/** Names the material without holding it: no private key becomes part of a key of a map. */
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
