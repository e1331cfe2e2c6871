import type { Socket } from 'node:net';
import { Connection, type ConnectionOwner } from '@glovebox/http1';
import { Problem } from '@glovebox/problems';
import type { Release } from '@glovebox/shares';
import { deadlines, type Limited } from '../connection/deadlines';
import { Breaker } from './breaker';

/** A call on its way to a connection. */
export interface Carried {
  /**
   * Sends the call over this connection. A throw comes back through `failed` and leaves the
   * connection unused.
   */
  carriedBy(connection: Connection): void;
  failed(error: Error): void;
}

interface DestinationParts {
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
  readonly #free: Kept[] = [];
  readonly #open = new Set<Kept>();
  readonly #waiting = new Map<Carried, Waiting>();
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
      throw new Problem('destination_busy', { retryAfterSeconds: 1 });
    }
    // A call that gets an open connection does not depend on those that fail.
    if (!this.#breaker.admits() && this.#free.length === 0) {
      throw new Problem('destination_unreachable');
    }
    this.#calls += 1;
  }

  leave(): void {
    this.#calls -= 1;
    this.#usedAt = performance.now();
    if (this.#waiting.size > 0) this.#serveWaiting();
  }

  /** Uses a free connection, or else the first one that is freed or opened. Hot path. */
  carry(call: Carried): void {
    const kept = this.#free.pop();
    if (kept) this.#hand(kept, call);
    else this.#wait(call, new Waiting(true));
  }

  /** Uses a connection that is opened for this call. */
  carryAnew(call: Carried): void {
    this.#wait(call, new Waiting(false));
  }

  /** Ends the wait of a call, which hears nothing more. */
  withdraw(call: Carried): void {
    this.#waiting.get(call)?.left.abort(noLonger);
    this.#waiting.delete(call);
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
    for (const [call, { left }] of waiting) {
      left.abort(noLonger);
      call.failed(new Problem('destination_unreachable'));
    }
    await Promise.all([...this.#open].map((kept) => kept.end()));
  }

  #hand(kept: Kept, call: Carried): void {
    deadlines.clear(kept);
    try {
      call.carriedBy(kept.connection);
    } catch (thrown) {
      this.#keep(kept);
      call.failed(thrown as Error);
    }
  }

  #wait(call: Carried, waiting: Waiting): void {
    this.#waiting.set(call, waiting);
    this.#openFor(waiting).then(
      (kept) => {
        if (!waiting.takesFreed && this.#waiting.delete(call)) return this.#hand(kept, call);
        this.#keep(kept);
        this.#serveWaiting();
      },
      (refused: Error) => {
        if (this.#waiting.delete(call)) call.failed(refused);
      },
    );
  }

  #serveWaiting(): void {
    for (const [call, waiting] of this.#waiting) {
      if (!waiting.takesFreed) continue;
      const kept = this.#free.pop();
      if (!kept) return;
      this.#waiting.delete(call);
      waiting.served();
      this.#hand(kept, call);
    }
  }

  async #openFor(waiting: Waiting): Promise<Kept> {
    const { signal } = waiting.left;
    await this.parts.turnToOpen(signal);
    waiting.isOpening = true;
    try {
      const socket = await this.parts.open(signal);
      if (this.#isEnded) socket.destroy();
      this.#breaker.connected();
      const kept = new Kept(socket, this.#free, this.#open);
      this.#open.add(kept);
      return kept;
    } catch (error) {
      // A used-up share and a caller that left say nothing about the destination.
      if (!(error instanceof Problem) && !signal.aborted) this.#breaker.failed();
      throw error;
    }
  }

  #keep(kept: Kept): void {
    if (this.#open.has(kept)) kept.free();
  }
}

/** Made once, because each new error would record a stack. */
const noLonger = new Error('nobody waits for this connection any more');

/** A call that has no connection yet. */
class Waiting {
  readonly left = new AbortController();
  isOpening = false;

  constructor(readonly takesFreed: boolean) {}

  /** A connection that is being opened will serve the next call. */
  served(): void {
    if (!this.isOpening) this.left.abort(noLonger);
  }
}

/** A connection in the list of free ones, for as long as it may be kept. */
class Kept implements ConnectionOwner, Limited {
  readonly connection: Connection;
  place = -1;
  dueAt = 0;

  constructor(
    private readonly socket: Socket,
    private readonly freeOnes: Kept[],
    private readonly openOnes: Set<Kept>,
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
  async end(): Promise<void> {
    const closed = new Promise((resolve) => this.socket.once('close', resolve));
    this.connection.abort(new Problem('destination_unreachable'));
    await closed;
  }
}
