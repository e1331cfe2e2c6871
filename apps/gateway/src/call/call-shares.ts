import type { ServerResponse } from 'node:http';
import { atOnce, inSlices, nextSlice, type Work } from '@glovebox/expressions';
import { Problem } from '@glovebox/problems';
import type { Reading } from '@glovebox/wire';
import { Shares, type Release } from '@glovebox/shares';
import type { GatewayConfig } from '../config';
import type { Call } from '../observing/call';
import { settleAtEnd } from './call-lifetime';

/** Turns for long work: one for a busy tenant, one for all others in turn. */
const turnsMax = 2;
const turnWaitMs = 10_000;
const waitingTurnsMax = 64;

/** Each has a process of its own, which is started for it. */
const dryRunsOfTenantMax = 2;

/** Everything that the calls of all tenants share in this process. */
export interface CallShares {
  readonly calls: Shares;
  readonly callsOfKeys: Shares;
  readonly bufferedBytes: Shares;
  readonly turns: Shares;
  readonly dryRuns: Shares;
}

export function createCallShares(
  config: Pick<
    GatewayConfig,
    'CALLS_MAX' | 'CALLS_PER_KEY_MAX' | 'BUFFERED_BYTES_MAX' | 'DRY_RUNS_MAX'
  >,
): CallShares {
  return {
    calls: new Shares({ places: config.CALLS_MAX }),
    callsOfKeys: new Shares({ places: config.CALLS_MAX, ownerMax: config.CALLS_PER_KEY_MAX }),
    bufferedBytes: new Shares({ places: config.BUFFERED_BYTES_MAX }),
    turns: new Shares({ places: turnsMax, waitMs: turnWaitMs, waitingMax: waitingTurnsMax }),
    dryRuns: new Shares({ places: config.DRY_RUNS_MAX, ownerMax: dryRunsOfTenantMax }),
  };
}

interface Admission {
  readonly shares: CallShares;
  readonly config: RoomConfig;
}

/**
 * Gives a call its place as soon as the caller is known: one of the tenant's places and one of the
 * caller's. The caller is the application, or the proxy that lets anonymous callers in. Hot path.
 */
export function admitCall(
  { shares, config }: Admission,
  res: ServerResponse,
  call: Call,
  { tenantId, caller }: { readonly tenantId: string; readonly caller: string },
): Room {
  shares.calls.enter(tenantId);
  try {
    shares.callsOfKeys.enter(caller);
  } catch (refused) {
    shares.calls.leave(tenantId);
    throw refused;
  }
  call.decidedAt = performance.now();
  const room = new Room(shares, config, res, tenantId, caller);
  settleAtEnd(call, room);
  return room;
}

/** Taken at once. A call of a few bytes takes about as much in all. */
const stepBytes = 16 * 1024;
/** A large body takes three more bytes for each of its own, parsed and as text. */
const copies = 3;
/** Smaller bodies are parsed without a pause: that takes less than a slice. */
const atOnceBytes = 16 * 1024;
/** Smaller bodies are parsed without a turn. */
const smallBytes = 64 * 1024;

type RoomConfig = Pick<GatewayConfig, 'BODY_IDLE_MS' | 'REQUEST_TIMEOUT_MS'>;

/** One call's part of the memory and of the thread that all calls share. */
export class Room implements Reading {
  #kept = 0;
  #places = 0;
  #hasEnded = false;
  #keep: ((bytes: number) => void) | undefined;
  #takeTurn: (() => Promise<Release>) | undefined;

  constructor(
    private readonly shares: CallShares,
    private readonly config: RoomConfig,
    private readonly res: ServerResponse,
    private readonly tenantId: string,
    private readonly caller: string,
  ) {}

  get idleMs(): number {
    return this.config.BODY_IDLE_MS;
  }

  get wholeMs(): number {
    return this.config.REQUEST_TIMEOUT_MS;
  }

  /** Accounts for more bytes in memory. Throws a Problem when there is no room for them. */
  get keep(): (bytes: number) => void {
    return (this.#keep ??= (bytes) => this.#keepMore(bytes));
  }

  /** Resolves when long work may begin. Rejects when the caller leaves. */
  get takeTurn(): () => Promise<Release> {
    return (this.#takeTurn ??= () => this.#waitForTurn());
  }

  #keepMore(bytes: number): void {
    // Work on a streamed body may go on after its call has ended.
    if (this.#hasEnded) throw callerHasLeft();
    const missing = this.#kept + bytes - this.#places;
    if (missing > 0) {
      const places = Math.ceil(missing / stepBytes) * stepBytes;
      this.shares.bufferedBytes.enter(this.tenantId, places);
      this.#places += places;
    }
    this.#kept += bytes;
  }

  /**
   * Gives back all but these bytes: the others were sent or dropped. Takes nothing, and so never
   * fails.
   */
  keepOnly(bytes: number): void {
    if (bytes >= this.#kept) return;
    this.#kept = bytes;
    const freed = this.#places - Math.ceil(bytes / stepBytes) * stepBytes;
    if (freed <= 0) return;
    this.#places -= freed;
    this.shares.bufferedBytes.leave(this.tenantId, freed);
  }

  /** Gives back the place of the call as well. Call it once. */
  end(): void {
    this.keepOnly(0);
    this.#hasEnded = true;
    this.shares.calls.leave(this.tenantId);
    this.shares.callsOfKeys.leave(this.caller);
  }

  async #waitForTurn(): Promise<Release> {
    const left = new AbortController();
    const leave = (): void => left.abort(callerHasLeft());
    if (this.res.destroyed) leave();
    this.res.once('close', leave);
    try {
      return await this.shares.turns.take(this.tenantId, { signal: left.signal });
    } finally {
      this.res.off('close', leave);
    }
  }

  /** Takes a body apart: a small one at once, and a large one when it is its turn. */
  takeApart<Result>(bytes: number, work: Work<Result>): Result | Promise<Result> {
    this.keep(bytes * copies);
    if (bytes < atOnceBytes) return atOnce(work);
    return bytes < smallBytes ? inSlices(work) : this.inTurn(() => inSlices(work));
  }

  /** Does long work when it is its turn. */
  async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const endTurn = await this.takeTurn();
    try {
      await nextSlice();
      return await work();
    } finally {
      endTurn();
    }
  }
}

export const callerHasLeft = (): Problem =>
  new Problem('invalid_request', { detail: 'The caller left before its answer.' });
