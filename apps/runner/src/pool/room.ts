import { Shares } from '@glovebox/shares';
import type { PoolMemory } from './pool-size';
import { runningMax } from './pool-size';
import { PooledProcess, type ProcessGroup } from './process-groups';

export interface RoomLimits {
  /** Processes with a customer's code. */
  readonly processesMax: number;
  readonly memory: PoolMemory;
}

const mebibyte = 1024 ** 2;
/** The part of the running sandboxes that async runs may use. Sync runs find the rest. */
const asyncShare = 3 / 4;
/** Idle processes are frozen well within this time. Only then are others ended for their memory. */
const settlingMs = 100;
/** A busy process is given to a tenant that holds less only after this wait, as starts are dear. */
const yieldAfterMs = 250;

/** The largest number of async runs beside which sync runs have a part of all places. */
export const asyncPartOf = (places: number): number => Math.max(1, Math.floor(places * asyncShare));

/**
 * The places and the memory of the pool. A process that may run counts with its limit, a frozen one
 * with the memory that it was seen to have. No process starts or wakes if the sum would pass the cap.
 */
export class PoolRoom {
  readonly places: Shares;
  /** The right to run. A process that has it can grow to its limit. */
  readonly running: Shares;
  readonly asyncRuns: Shares;
  /** All processes whose memory counts. */
  readonly processes = new Set<PooledProcess>();
  private readonly frozen = new Map<PooledProcess, number>();
  private frozenBytes = 0;

  constructor(
    private readonly limits: RoomLimits,
    private readonly evict: (process: PooledProcess) => void,
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

  get idle(): PooledProcess[] {
    return [...this.processes].filter((process) => process.isFree);
  }

  /**
   * Takes a place for one more process. Where there is none, idle processes are ended for it. The
   * memory of those comes free a little later, and then the caller has to ask again.
   */
  admit(group: ProcessGroup, waitedMs: number): PooledProcess | undefined {
    const { tenantId } = group;
    if (!this.running.hasRoom(tenantId) || !this.makeMemory(tenantId, waitedMs)) return undefined;
    while (!this.places.hasRoom(tenantId)) {
      if (!this.evictFor(tenantId, waitedMs)) return undefined;
    }
    this.places.enter(tenantId);
    this.running.enter(tenantId);
    const process = new PooledProcess(group);
    this.processes.add(process);
    return process;
  }

  freeze(process: PooledProcess, bytes: number): void {
    process.become('frozen');
    this.frozen.set(process, bytes);
    this.frozenBytes += bytes;
    this.running.leave(process.group.tenantId);
  }

  /** A frozen process may run again only when there is room for it at its limit. */
  wake(process: PooledProcess): boolean {
    const { tenantId } = process.group;
    if (process.state === 'frozen') {
      if (!this.running.hasRoom(tenantId)) return false;
      if (!this.makeMemory(tenantId, 0, process)) return false;
      this.thaw(process);
      this.running.enter(tenantId);
    }
    process.become('waking');
    return true;
  }

  /** The process was killed. Its memory stays counted until it is gone. */
  end(process: PooledProcess): void {
    process.become('ended');
    this.places.leave(process.group.tenantId);
  }

  gone(process: PooledProcess): void {
    process.become('gone');
    this.processes.delete(process);
    if (this.frozen.has(process)) this.thaw(process);
    else this.running.leave(process.group.tenantId);
  }

  private thaw(process: PooledProcess): void {
    this.frozenBytes -= this.frozen.get(process) ?? 0;
    this.frozen.delete(process);
  }

  /**
   * The memory that comes free without any more being ended: that of processes that were killed, and
   * for a run that has just come half of that of idle ones, which are about to be frozen.
   */
  private soonFreed(waitedMs: number): number {
    const limit = this.limits.memory.sandboxMb * mebibyte;
    let bytes = 0;
    for (const process of this.processes) {
      if (process.state === 'ended') bytes += this.frozen.get(process) ?? limit;
      else if (process.state === 'idle' && waitedMs < settlingMs) bytes += limit / 2;
    }
    return bytes;
  }

  /** True if one more process may run now. Otherwise idle ones are ended, if that helps. */
  private makeMemory(tenantId: string, waitedMs: number, waking?: PooledProcess): boolean {
    const { capMb, sandboxMb } = this.limits.memory;
    const freed = waking === undefined ? 0 : (this.frozen.get(waking) ?? 0);
    const missing = (): number => this.reservedBytes - freed + (sandboxMb - capMb) * mebibyte;
    if (missing() <= 0) return true;
    while (missing() > this.soonFreed(waitedMs) && this.evictFor(tenantId, waitedMs, waking));
    return false;
  }

  /**
   * Ends an idle process of the largest holder, the one that was used longest ago. It is another
   * tenant's only if that tenant holds more.
   */
  private evictFor(tenantId: string, waitedMs: number, spared?: PooledProcess): boolean {
    const held = ({ group }: PooledProcess): number => this.places.heldBy(group.tenantId);
    const own = this.places.heldBy(tenantId);
    let victim: PooledProcess | undefined;
    for (const process of this.processes) {
      if (!process.isFree || process === spared) continue;
      if (process.group.tenantId !== tenantId && held(process) <= own) continue;
      // Its own runs wait for it: it is not ended for each other run that has just come.
      if (process.group.waiting.size > 0 && waitedMs < yieldAfterMs) continue;
      const more = victim === undefined ? 1 : held(process) - held(victim);
      if (more > 0 || (more === 0 && process.idleSince < (victim?.idleSince ?? 0))) {
        victim = process;
      }
    }
    if (victim === undefined) return false;
    this.evict(victim);
    return true;
  }
}
