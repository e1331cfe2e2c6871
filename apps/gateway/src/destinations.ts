import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { errors, Pool, type buildConnector, type Dispatcher } from 'undici';
import type { DefinitionFollower, TlsDefinition } from '@glovebox/definitions';
import type { Egress } from '@glovebox/egress';
import { Problem } from '@glovebox/problems';
import { Shares, type Release } from '@glovebox/shares';
import { Breaker } from './breaker';
import { Connection, type Carried, type Connector } from './destination-connection';

/** Connections that are begun in one turn of the event loop; each takes about half a millisecond. */
const openingsMax = 8;
const openingsWaitingMax = 4_096;
const openingWaitMs = 5_000;

export interface DestinationLimits {
  /** Calls under way to one destination. */
  readonly callsMax: number;
  /** Destinations that connections are kept for, by tenant; one takes about 20 KB. */
  readonly places: Shares;
  /** Connections to them, open or being opened, by tenant. */
  readonly connections: Shares;
  readonly idleMs?: number;
}

/**
 * Where calls go: one pool of connections per tenant, origin and TLS material, so that no tenant sends
 * over a connection that another one has opened. Pools that nobody uses are closed, those of replaced
 * material among them.
 */
export class Destinations {
  readonly openings = new Shares({
    places: openingsMax,
    waitMs: openingWaitMs,
    waitingMax: openingsWaitingMax,
  });
  readonly #known = new Map<string, Destination>();
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

  /** Hot path. What is handed out is to be entered at once: an idle one may be closed later. */
  of(tenantId: string, origin: string, tls: TlsDefinition | null): Destination {
    const key = `${tenantId} ${origin} ${tls ? fingerprintOf(tls) : ''}`;
    const known = this.#known.get(key);
    if (known) return known;
    const release = this.#takePlace(tenantId);
    const destination = new Destination(tenantId, origin, {
      connector: this.#connectorFor(tenantId, tls),
      turnToOpen: (signal) => this.#turnToOpen(tenantId, signal),
      callsMax: this.limits.callsMax,
      release,
    });
    this.#known.set(key, destination);
    return destination;
  }

  get size(): number {
    return this.#known.size;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    for (const key of this.#known.keys()) this.#close(key);
    await Promise.all(this.#closing);
  }

  /** Callers may name their destinations by themselves, each time another one. */
  #takePlace(tenantId: string): Release {
    const { places } = this.limits;
    while (!places.hasRoom(tenantId)) {
      const key = this.#idleLongest(this.#givesWayTo(places, tenantId));
      if (key === undefined) break;
      this.#close(key);
    }
    return places.takeNow(tenantId);
  }

  /** A connection on a place of its tenant, from before it is opened until it is closed. */
  #connectorFor(tenantId: string, tls: TlsDefinition | null): Connector {
    const { connections } = this.limits;
    const open = this.egress.connectorFor(tenantId, tls ? materialOf(tls) : {});
    const takePlace = async (): Promise<Release> => {
      if (!connections.hasRoom(tenantId)) await Promise.all(this.#closing);
      if (!connections.hasRoom(tenantId)) {
        this.#closeIdle(0, this.#givesWayTo(connections, tenantId));
        await Promise.all(this.#closing);
      }
      return connections.takeNow(tenantId);
    };
    return (to, callback) => {
      takePlace().then(
        (release) =>
          open(to, (...[error, socket]) => {
            if (error) {
              release();
              return callback(error, null);
            }
            socket.once('close', release);
            this.#whenFresh(socket, callback);
          }),
        (refused: Error) => callback(refused, null),
      );
    };
  }

  /** Opening takes long enough that a thousand at once would keep everybody else from the thread. */
  async #turnToOpen(tenantId: string, signal: AbortSignal): Promise<void> {
    const endTurn = await this.openings.take(tenantId, { signal });
    setImmediate(endTurn);
    if (!this.definitions.fresh()) await this.definitions.current();
    signal.throwIfAborted();
  }

  /** While many connections are opened, what is known of the definitions may grow too old to send by. */
  #whenFresh(socket: Socket, callback: buildConnector.Callback): void {
    if (this.definitions.fresh()) return callback(null, socket);
    let broken: Error | undefined;
    socket.once('error', (error) => (broken = error));
    this.definitions.current().then(
      () => {
        if (!socket.destroyed) return callback(null, socket);
        callback(broken ?? new errors.SocketError('the connection broke'), null);
      },
      (unknown: Error) => {
        socket.destroy();
        callback(unknown, null);
      },
    );
  }

  /** A tenant that has something makes room with its own; for one that has nothing, anybody does. */
  #givesWayTo(shares: Shares, tenantId: string): string | undefined {
    return shares.heldBy(tenantId) > 0 ? tenantId : undefined;
  }

  #idleLongest(tenantId: string | undefined): string | undefined {
    let longest: string | undefined;
    let since = Infinity;
    for (const [key, { tenantId: owner, idleSince }] of this.#known) {
      if (idleSince >= since || (tenantId !== undefined && owner !== tenantId)) continue;
      longest = key;
      since = idleSince;
    }
    return longest;
  }

  #closeIdle(idleMs: number, tenantId?: string): void {
    const until = performance.now() - idleMs;
    for (const [key, { tenantId: owner, idleSince }] of this.#known) {
      if (idleSince > until || (tenantId !== undefined && owner !== tenantId)) continue;
      this.#close(key);
    }
  }

  #close(key: string): void {
    const destination = this.#known.get(key);
    if (!destination) return;
    this.#known.delete(key);
    const closing = destination.destroy().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

interface DestinationParts {
  readonly connector: Connector;
  /** Resolves when the tenant may open one more connection. */
  readonly turnToOpen: (signal: AbortSignal) => Promise<void>;
  readonly callsMax: number;
  readonly release: Release;
}

/** The connections of one tenant to one origin, and what keeps them from harming other calls. */
export class Destination {
  readonly #breaker = new Breaker();
  #pool: Pool | undefined;
  #calls = 0;
  /** Of the calls, those whose turn to open a connection has not come. */
  #waiting = 0;
  /** Open or being opened. */
  #connections = 0;
  #usedAt = performance.now();

  constructor(
    readonly tenantId: string,
    private readonly origin: string,
    private readonly parts: DestinationParts,
  ) {}

  /** Takes a place, to be given back by `leave`. There is no queue: who waits in one is slow twice. */
  enter(): void {
    if (this.#calls >= this.parts.callsMax) {
      throw new Problem('destination_busy', { retryAfterSeconds: 1 });
    }
    // A connection that is open already needs none of those that fail.
    if (!this.#breaker.admits() && !this.#pool?.stats.free) {
      throw new Problem('destination_unreachable');
    }
    this.#calls += 1;
  }

  leave(): void {
    this.#calls -= 1;
    this.#usedAt = performance.now();
  }

  /**
   * Over a connection that is free, else over one that is opened when its turn comes. The request is
   * asked for then: until its body is carried away, nobody would hear of its faults. Hot path.
   */
  dispatch(request: () => Dispatcher.DispatchOptions, call: Carried): void {
    const isFree = this.#connections >= this.#calls - this.#waiting;
    if (isFree && this.#pool) this.#pool.dispatch(request(), call);
    else this.#whenItsTurn(call, () => this.#openPool().dispatch(request(), call));
  }

  /** Over a connection that was opened for this call, and ends with it. */
  dispatchAnew(options: Dispatcher.DispatchOptions, call: Carried): void {
    this.#whenItsTurn(call, () => {
      const connection = this.#open(this.origin, { ...connectionOptions, pipelining: 0 });
      connection.dispatch(options, call);
      void connection.close();
    });
  }

  /** Since when no call is under way; of one that has any: not yet. */
  get idleSince(): number {
    return this.#calls === 0 ? this.#usedAt : Infinity;
  }

  destroy(): Promise<void> {
    this.parts.release();
    return this.#openPool().destroy();
  }

  #whenItsTurn(call: Carried, dispatch: () => void): void {
    const left = new AbortController();
    call.waits((reason) => left.abort(reason));
    this.#waiting += 1;
    this.parts
      .turnToOpen(left.signal)
      .finally(() => (this.#waiting -= 1))
      .then(dispatch)
      .catch((refused: Error) => call.onError?.(refused));
  }

  #openPool(): Pool {
    this.#pool ??= new Pool(this.origin, {
      ...connectionOptions,
      factory: (to: URL | string, options: object) => this.#open(to, options),
      connections: this.parts.callsMax,
      pipelining: 1,
    });
    return this.#pool;
  }

  #open(to: URL | string, options: object): Connection {
    return new Connection(to, options, this.#connect, this.#breaker);
  }

  readonly #connect: Connector = (to, callback) => {
    const isGone = (): void => void (this.#connections -= 1);
    this.#connections += 1;
    this.parts.connector(to, (...[error, socket]) => {
      if (error) {
        isGone();
        return callback(error, null);
      }
      socket.once('close', isGone);
      callback(null, socket);
    });
  };
}

export const answerHeaderBytesMax = 64 * 1024;

const connectionOptions = {
  // Below the 5 s after which many servers hang up, so that it is seldom they who do.
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 60_000,
  maxHeaderSize: answerHeaderBytesMax,
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
