import type { Socket } from 'node:net';
import { Connection, type ConnectionOwner } from '@glovebox/http1';
import { EgressUnreachable } from '@glovebox/egress';
import { Problem, type Failure, type FailurePhase } from '@glovebox/problems';
import { deadlines, type Limited } from '@glovebox/service-host';
import type { Release } from '@glovebox/shares';

/** A call that waits for a connection. */
export interface ConnectionWaiter {
  /**
   * Sends the call over this connection. A throw comes back through `failed` and leaves the
   * connection unused.
   */
  connected(connection: Connection): void;
  failed(error: Error): void;
}

interface DestinationParts {
  /** The part of the tenant's own URL that a cause of failure may name. */
  readonly named: Pick<Failure, 'address' | 'port'>;
  /** Its URL says http. */
  readonly isPlain: boolean;
  /** Resolves when the tenant may open one more connection. */
  readonly turnToOpen: (signal: AbortSignal) => Promise<void>;
  readonly open: (signal: AbortSignal) => Promise<Socket>;
  readonly callsMax: number;
  readonly release: Release;
}

/**
 * The connections of one tenant to one origin, with the limits that protect other calls from them.
 */
export class Destination {
  readonly #breaker = new Breaker();
  /** The connection that was used last is used next, so that the others grow old and are closed. */
  readonly #free: PooledConnection[] = [];
  readonly #open = new Set<PooledConnection>();
  readonly #waiting = new Map<ConnectionWaiter, Wait>();
  #calls = 0;
  #isEnded = false;
  #usedAt = performance.now();

  constructor(
    readonly tenantId: string,
    private readonly parts: DestinationParts,
  ) {}

  /**
   * Takes a place, to be given back by `leave`. There is no queue: a call that waits in one is slow
   * twice.
   */
  enter(): void {
    if (this.#calls >= this.parts.callsMax) {
      const failure = this.failureAt('connect', `${this.#calls} calls to it are under way`);
      throw new Problem('destination_busy', { retryAfterSeconds: 1, failure });
    }
    // A call that gets an open connection does not depend on those that fail.
    if (!this.#breaker.admits() && this.#free.length === 0) throw this.#failsAtOnce();
    this.#calls += 1;
  }

  get isPlain(): boolean {
    return this.parts.isPlain;
  }

  /** Says where a call failed and why. */
  failureAt(phase: FailurePhase, reason: string): Failure {
    return { phase, reason, ...this.parts.named };
  }

  leave(): void {
    this.#calls -= 1;
    this.#usedAt = performance.now();
    if (this.#waiting.size > 0) this.#serveWaiting();
  }

  /** Gives a free connection, or else the first one that is freed or opened. Hot path. */
  giveConnection(waiter: ConnectionWaiter): void {
    const free = this.#free.pop();
    if (free) this.#hand(free, waiter);
    else this.#await(waiter, new Wait(true));
  }

  /** Opens a connection for this waiter. */
  giveNewConnection(waiter: ConnectionWaiter): void {
    this.#await(waiter, new Wait(false));
  }

  /** Ends the wait. The waiter hears nothing more. */
  withdraw(waiter: ConnectionWaiter): void {
    this.#waiting.get(waiter)?.left.abort(noLonger);
    this.#waiting.delete(waiter);
  }

  /** When the last call ended. Infinity while a call is under way. */
  get idleSince(): number {
    return this.#calls === 0 ? this.#usedAt : Infinity;
  }

  /** Resolves when all its connections have ended. */
  async destroy(): Promise<void> {
    this.#isEnded = true;
    this.parts.release();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [waiter, { left }] of waiting) {
      left.abort(noLonger);
      waiter.failed(this.#closedHere());
    }
    await Promise.all([...this.#open].map((connection) => connection.end(this.#closedHere())));
  }

  #closedHere(): Problem {
    const failure = this.failureAt('connect', 'the gateway closed its connections');
    return new Problem('destination_unreachable', { failure });
  }

  #failsAtOnce(): Problem {
    const { failures, last } = this.#breaker;
    // What egress refused has no cause for its caller, whatever failed before.
    const failure =
      last instanceof EgressUnreachable
        ? this.failureAt(
            last.phase,
            `${failures} connections failed in a row; last: ${last.reason}`,
          )
        : undefined;
    return new Problem('destination_unreachable', { failure, cause: last });
  }

  #hand(pooled: PooledConnection, waiter: ConnectionWaiter): void {
    deadlines.clear(pooled);
    try {
      waiter.connected(pooled.connection);
    } catch (thrown) {
      this.#keep(pooled);
      waiter.failed(thrown as Error);
    }
  }

  #await(waiter: ConnectionWaiter, wait: Wait): void {
    this.#waiting.set(waiter, wait);
    this.#openFor(wait).then(
      (pooled) => {
        if (!wait.takesFreed && this.#waiting.delete(waiter)) return this.#hand(pooled, waiter);
        this.#keep(pooled);
        this.#serveWaiting();
      },
      (refused: Error) => {
        if (this.#waiting.delete(waiter)) waiter.failed(refused);
      },
    );
  }

  #serveWaiting(): void {
    for (const [waiter, wait] of this.#waiting) {
      if (!wait.takesFreed) continue;
      const free = this.#free.pop();
      if (!free) return;
      this.#waiting.delete(waiter);
      wait.served();
      this.#hand(free, waiter);
    }
  }

  async #openFor(wait: Wait): Promise<PooledConnection> {
    const { signal } = wait.left;
    await this.parts.turnToOpen(signal);
    wait.isOpening = true;
    try {
      const socket = await this.parts.open(signal);
      if (this.#isEnded) socket.destroy();
      this.#breaker.connected();
      const pooled = new PooledConnection(socket, this.#free, this.#open);
      this.#open.add(pooled);
      return pooled;
    } catch (error) {
      // A used-up share and a caller that left say nothing about the destination.
      if (!(error instanceof Problem) && !signal.aborted) this.#breaker.failed(error as Error);
      throw error;
    }
  }

  #keep(pooled: PooledConnection): void {
    if (this.#open.has(pooled)) pooled.free();
  }
}

/** Made once, because each new error would record a stack. */
const noLonger = new Error('nobody waits for this connection any more');

/** The wait of a call for its connection. */
class Wait {
  readonly left = new AbortController();
  isOpening = false;

  constructor(readonly takesFreed: boolean) {}

  /** A connection that is being opened will serve the next call. */
  served(): void {
    if (!this.isOpening) this.left.abort(noLonger);
  }
}

/** A connection in the list of free ones, for as long as it may be kept. */
class PooledConnection implements ConnectionOwner, Limited {
  readonly connection: Connection;
  place = -1;
  dueAt = 0;

  constructor(
    private readonly socket: Socket,
    private readonly freeOnes: PooledConnection[],
    private readonly openOnes: Set<PooledConnection>,
  ) {
    this.connection = new Connection(socket, this);
  }

  free(): void {
    this.freeOnes.push(this);
    deadlines.set(this, this.connection.keepMs);
  }

  closed(): void {
    deadlines.clear(this);
    this.openOnes.delete(this);
    const at = this.freeOnes.lastIndexOf(this);
    if (at >= 0) this.freeOnes.splice(at, 1);
  }

  expire(): void {
    this.connection.close();
  }

  /** Resolves when the socket is closed, whatever was under way. */
  async end(reason: Problem): Promise<void> {
    const closed = new Promise((resolve) => this.socket.once('close', resolve));
    this.connection.abort(reason);
    await closed;
  }
}

const failuresMax = 10;
const pauseMs = 1_000;

/**
 * After 10 failed connections in a row, one call a second tries again and the others fail without
 * waiting. One connection that succeeds is enough.
 */
class Breaker {
  /** Failed connections in a row, and the error of the last. */
  failures = 0;
  last: Error | undefined;
  #nextTryAt = 0;

  admits(): boolean {
    if (this.failures < failuresMax) return true;
    const now = performance.now();
    if (now < this.#nextTryAt) return false;
    this.#nextTryAt = now + pauseMs;
    return true;
  }

  connected(): void {
    this.failures = 0;
    this.last = undefined;
  }

  failed(error: Error): void {
    this.failures += 1;
    this.last = error;
    if (this.failures === failuresMax) this.#nextTryAt = performance.now() + pauseMs;
  }
}
