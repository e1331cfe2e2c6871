import type { Member } from './pool-groups';
import { reasonToRecycle, type EndReason, type RecyclingLimits } from './pool-ends';
import type { PoolRoom } from './pool-room';
import { memoryOf } from './process-memory';
import { watchForSilence } from './silence';

export interface RestLimits extends RecyclingLimits {
  readonly idleTtlMs: number;
}

interface Parts {
  readonly room: PoolRoom;
  end(member: Member, reason: EndReason): void;
  /** Offers a process that is fit for another run. */
  offer(member: Member): void;
  /** Called when a frozen process has given back its right to run. */
  onFrozen(): void;
}

/** A process that has not come to rest by then, after its run, is ended. */
const restLimitMs = 800;
/** A process is frozen only after this pause, for runs that follow each other closely. */
const freezeAfterMs = 10;
/** A frozen process is measured after this, when its threads have stopped. */
const settleMs = 10;
/** In a row of short runs the memory is measured this often. */
const measureEveryMs = 100;

/** Takes processes back after their runs, and keeps those that are fit for another one. */
export class PoolRest {
  constructor(
    private readonly limits: RestLimits,
    private readonly parts: Parts,
  ) {}

  /** A process is used again only when it has shown that its last run left nothing running. */
  async take(member: Member): Promise<void> {
    const { process, group } = member;
    group.resting.add(member);
    const endWatch = watchForSilence(process.pid, () => (member.isSilent = true));
    const isAtRest = await process.comesToRest(restLimitMs);
    endWatch();
    member.isSilent = false;
    group.resting.delete(member);
    if (member.hasEnded) return;
    const reason = isAtRest ? this.reasonToRecycle(member) : 'silent';
    if (reason !== undefined) this.parts.end(member, reason);
    else this.keep(member);
  }

  /** Ends the processes that nobody has used for long. */
  sweep(): void {
    const longAgo = performance.now() - this.limits.idleTtlMs;
    const old = performance.now() - this.limits.ageMaxMs;
    for (const member of this.parts.room.idle) {
      if (member.idle !== undefined && member.idle.since < longAgo) this.parts.end(member, 'idle');
      else if (member.startedAt < old) this.parts.end(member, 'age');
    }
  }

  /** Keeps a process that has just answered. */
  keep(member: Member): void {
    const idle = { since: performance.now(), timer: undefined };
    member.idle = idle;
    member.group.idle.add(member);
    this.parts.room.idle.add(member);
    this.parts.offer(member);
    if (member.idle === idle) this.after(freezeAfterMs, member, () => this.freeze(member));
  }

  leaveIdle(member: Member): void {
    clearTimeout(member.idle?.timer);
    member.idle = undefined;
    member.group.idle.delete(member);
    this.parts.room.idle.delete(member);
  }

  /** Asks once more: a process that is frozen while it spins could not take the next run. */
  private async freeze(member: Member): Promise<void> {
    const { idle } = member;
    const isAtRest = await member.process.answersWithin(restLimitMs);
    // In the meantime a run may have taken it, and even have given it back.
    if (idle === undefined || member.idle !== idle) return;
    if (!isAtRest) return this.parts.end(member, 'silent');
    member.process.freeze();
    this.after(settleMs, member, () => this.measureFrozen(member));
  }

  /** From now on a frozen process counts with the memory that it has. */
  private measureFrozen(member: Member): void {
    const { pid } = member.process;
    const memory = pid === undefined ? undefined : memoryOf(pid);
    if (memory === undefined) return;
    if (!memory.isStopped) return this.after(settleMs, member, () => this.measureFrozen(member));
    if (memory.privateBytes > this.limits.restingBytesMax) return this.parts.end(member, 'memory');
    this.parts.room.freeze(member.seat, memory.privateBytes);
    this.parts.onFrozen();
  }

  private after(delayMs: number, { idle }: Member, step: () => unknown): void {
    if (idle !== undefined) idle.timer = setTimeout(step, delayMs);
  }

  private reasonToRecycle(member: Member): EndReason | undefined {
    const { pid } = member.process;
    const now = performance.now();
    const isDue = pid !== undefined && now - member.measuredAt >= measureEveryMs;
    if (isDue) member.measuredAt = now;
    const privateBytes = isDue ? (memoryOf(pid)?.privateBytes ?? 0) : 0;
    return reasonToRecycle(member, privateBytes, this.limits);
  }
}
