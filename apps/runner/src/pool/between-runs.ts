import { memoryOf } from '../process/memory';
import { watchForSilence } from '../process/silence';
import { reasonAtRest, type EndReason, type RecyclingLimits } from './end-reasons';
import type { PooledProcess } from './process-groups';
import type { PoolRoom } from './room';

export interface RestLimits extends RecyclingLimits {
  readonly idleTtlMs: number;
}

/** The pool, as the processes without a run need it. */
interface RunningPool {
  readonly room: PoolRoom;
  end(process: PooledProcess, reason: EndReason): void;
  /** Offers a process that is fit for another run. */
  offer(process: PooledProcess): void;
  /** Called when something has come free. */
  serveSoon(): void;
}

/** A process that has not come to rest by then, after its run, is ended. */
const restLimitMs = 800;
/** A process is frozen only after this pause, for runs that follow each other closely. */
const freezeAfterMs = 10;
/** A timer may be this much early. */
const timerEarlyMs = 1;
/** A frozen process is measured after this, when its threads have stopped. */
const settleMs = 10;
/** In a row of short runs the memory is measured this often. */
const measureEveryMs = 100;

/** Takes processes back after their runs, and keeps those that are fit for another one. */
export class BetweenRuns {
  constructor(
    private readonly limits: RestLimits,
    private readonly pool: RunningPool,
  ) {}

  /** A process is used again only when it has shown that its last run left nothing running. */
  rest(process: PooledProcess): void {
    process.become('resting');
    if (process.sandbox.isAtRest) this.takeBack(process);
    else void this.waitForRest(process);
  }

  private async waitForRest(process: PooledProcess): Promise<void> {
    const { sandbox } = process;
    const endWatch = watchForSilence(sandbox.pid, () => (process.isSilent = true));
    const isAtRest = await sandbox.comesToRest(restLimitMs);
    endWatch();
    process.isSilent = false;
    if (process.state !== 'resting') return;
    if (isAtRest) this.takeBack(process);
    else this.pool.end(process, 'silent');
  }

  private takeBack(process: PooledProcess): void {
    const reason = this.reasonToRecycle(process);
    if (reason !== undefined) this.pool.end(process, reason);
    else this.keep(process);
  }

  /** Keeps a process that has just answered. */
  keep(process: PooledProcess): void {
    process.become('idle');
    process.idleSince = performance.now();
    this.pool.offer(process);
    if (process.state === 'idle') this.freezeLater(process, freezeAfterMs);
  }

  /** Runs that follow each other closely share a timer. Each of them only moves its end. */
  private freezeLater(process: PooledProcess, delayMs: number): void {
    process.freezing ??= setTimeout(() => {
      process.freezing = undefined;
      if (process.state !== 'idle') return;
      const leftMs = process.idleSince + freezeAfterMs - performance.now();
      if (leftMs > timerEarlyMs) this.freezeLater(process, leftMs);
      else void this.freeze(process);
    }, delayMs);
  }

  /** Ends the processes that nobody has used for long. */
  sweep(): void {
    const longAgo = performance.now() - this.limits.idleTtlMs;
    const old = performance.now() - this.limits.ageMaxMs;
    for (const process of this.pool.room.idle) {
      if (process.idleSince < longAgo) this.pool.end(process, 'idle');
      else if (process.startedAt < old) this.pool.end(process, 'age');
    }
  }

  /** Asks once more: a process that is frozen while it spins could not take the next run. */
  private async freeze(process: PooledProcess): Promise<void> {
    const { changes } = process;
    const isAtRest = await process.sandbox.answersWithin(restLimitMs);
    // In the meantime a run may have taken it, and even have given it back.
    if (process.changes !== changes) return;
    if (!isAtRest) return this.pool.end(process, 'silent');
    process.sandbox.freeze();
    this.measureLater(process);
  }

  private measureLater(process: PooledProcess): void {
    const { changes } = process;
    const look = (): void => {
      if (process.changes === changes) this.measureFrozen(process);
    };
    if (process.state === 'idle') setTimeout(look, settleMs).unref();
  }

  /** From now on a frozen process counts with the memory that it has. */
  private measureFrozen(process: PooledProcess): void {
    const { pid } = process.sandbox;
    const memory = pid === undefined ? undefined : memoryOf(pid);
    if (memory === undefined) return;
    if (!memory.isStopped) return this.measureLater(process);
    if (memory.privateBytes > this.limits.restingBytesMax) return this.pool.end(process, 'memory');
    this.pool.room.freeze(process, memory.privateBytes);
    this.pool.serveSoon();
  }

  private reasonToRecycle(process: PooledProcess): EndReason | undefined {
    const { pid } = process.sandbox;
    const now = performance.now();
    const isDue = pid !== undefined && now - process.measuredAt >= measureEveryMs;
    if (isDue) process.measuredAt = now;
    const privateBytes = isDue ? (memoryOf(pid)?.privateBytes ?? 0) : 0;
    return reasonAtRest(process, privateBytes, this.limits);
  }
}
