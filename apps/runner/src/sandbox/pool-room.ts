import { Shares, type Release } from '@glovebox/shares';
import type { Member } from './pool-groups';
import { runningMax, type PoolMemory } from './pool-size';

export interface RoomLimits {
  /** Processes with a customer's code. */
  readonly processesMax: number;
  readonly memory: PoolMemory;
}

/** The part of the pool that one process takes. */
export interface Seat {
  readonly tenantId: string;
  place: Release | undefined;
  /** The right to run. A process that has it can grow to its limit. */
  awake: Release | undefined;
  frozenBytes: number;
  isLeaving: boolean;
}

const mebibyte = 1024 ** 2;
/** The part of the running sandboxes that async runs may use. Sync runs find the rest. */
const asyncShare = 3 / 4;

/** The largest number of async runs beside which sync runs have a part of all places. */
export const asyncPartOf = (places: number): number => Math.max(1, Math.floor(places * asyncShare));

/**
 * The places and the memory of the pool. A process that may run counts with its limit, a frozen one
 * with the memory that it was seen to have. No process starts or wakes if the sum would pass the cap.
 */
export class PoolRoom {
  readonly places: Shares;
  readonly running: Shares;
  readonly asyncRuns: Shares;
  /** Processes without a run. The one that was used longest ago comes first. */
  readonly idle = new Set<Member>();
  private frozenBytes = 0;
  /** Memory of processes that were killed and have not ended yet. */
  private leavingBytes = 0;

  constructor(
    private readonly limits: RoomLimits,
    private readonly evict: (member: Member) => void,
  ) {
    const running = runningMax(limits.memory);
    this.places = new Shares({ places: limits.processesMax });
    this.running = new Shares({ places: running });
    this.asyncRuns = new Shares({ places: asyncPartOf(Math.min(running, limits.processesMax)) });
  }

  /** Memory that is spoken for: this is never more than the cap. */
  get reservedBytes(): number {
    const { sandboxMb, genericMb } = this.limits.memory;
    return (this.running.state.held * sandboxMb + genericMb) * mebibyte + this.frozenBytes;
  }

  /**
   * Takes a place for one more process. Where there is none, idle processes are ended for it. The
   * memory of those comes free a little later, and then the caller has to ask again.
   */
  seat(tenantId: string, waitedMs: number): Seat | undefined {
    if (!this.running.hasRoom(tenantId) || !this.makeMemory(tenantId, waitedMs)) return undefined;
    while (!this.places.hasRoom(tenantId)) {
      if (!this.evictFor(tenantId, waitedMs)) return undefined;
    }
    return {
      tenantId,
      place: this.places.takeNow(tenantId),
      awake: this.running.takeNow(tenantId),
      frozenBytes: 0,
      isLeaving: false,
    };
  }

  /** A frozen process may run again only when there is room for it at its limit. */
  wake(member: Member): boolean {
    const { seat } = member;
    if (seat.awake !== undefined) return true;
    const { tenantId, frozenBytes } = seat;
    if (!this.running.hasRoom(tenantId)) return false;
    if (!this.makeMemory(tenantId, 0, member)) return false;
    this.frozenBytes -= frozenBytes;
    seat.frozenBytes = 0;
    seat.awake = this.running.takeNow(tenantId);
    return true;
  }

  freeze(seat: Seat, bytes: number): void {
    if (seat.awake === undefined) return;
    seat.frozenBytes = bytes;
    this.frozenBytes += bytes;
    seat.awake();
    seat.awake = undefined;
  }

  /** The process was killed. Its memory stays counted until it has ended. */
  leave(seat: Seat): void {
    seat.place?.();
    seat.place = undefined;
    seat.isLeaving = true;
    this.leavingBytes += this.bytesOf(seat);
  }

  gone(seat: Seat): void {
    if (seat.isLeaving) this.leavingBytes -= this.bytesOf(seat);
    this.frozenBytes -= seat.frozenBytes;
    seat.frozenBytes = 0;
    seat.awake?.();
    seat.awake = undefined;
  }

  private bytesOf(seat: Seat): number {
    return seat.awake === undefined ? seat.frozenBytes : this.limits.memory.sandboxMb * mebibyte;
  }

  /** The memory that idle processes give back as soon as they are frozen, which is about to happen. */
  private get settlingBytes(): number {
    const awake = [...this.idle].filter(({ seat }) => seat.awake !== undefined).length;
    return (awake * this.limits.memory.sandboxMb * mebibyte) / 2;
  }

  /** True if one more process may run now. Otherwise idle ones are ended, if that helps. */
  private makeMemory(tenantId: string, waitedMs: number, waking?: Member): boolean {
    const { capMb, sandboxMb } = this.limits.memory;
    const freed = waking?.seat.frozenBytes ?? 0;
    const missing = (): number => this.reservedBytes - freed + (sandboxMb - capMb) * mebibyte;
    if (missing() <= 0) return true;
    const soonFreed = (): number =>
      this.leavingBytes + (waitedMs < settlingMs ? this.settlingBytes : 0);
    while (missing() > soonFreed() && this.evictFor(tenantId, waitedMs, waking));
    return false;
  }

  /**
   * Ends an idle process of the largest holder, the one that was used longest ago. It is another
   * tenant's only if that tenant holds more.
   */
  private evictFor(tenantId: string, waitedMs: number, spared?: Member): boolean {
    const held = (member: Member): number => this.places.heldBy(member.group.tenantId);
    const own = this.places.heldBy(tenantId);
    let victim: Member | undefined;
    for (const member of this.idle) {
      if (member === spared) continue;
      const isOwn = member.group.tenantId === tenantId;
      if (!isOwn && held(member) <= own) continue;
      // Its own runs wait for it: it is not ended for each other run that has just come.
      if (member.group.waiting.size > 0 && waitedMs < yieldAfterMs) continue;
      if (victim === undefined || held(member) > held(victim)) victim = member;
    }
    if (victim === undefined) return false;
    this.evict(victim);
    return true;
  }
}

/** Idle processes are frozen well within this time. Only then are others ended for their memory. */
const settlingMs = 100;
/** A busy process is given to a tenant that holds less only after this wait, as starts are dear. */
const yieldAfterMs = 250;
