import type { RunOrder, Runtime, UnreadOutcome } from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
import type { Shares } from '@glovebox/shares';
import { PoolDispatch, type DispatchLimits } from './pool-dispatch';
import { endReasons, reasonAfterRun, type EndReason } from './pool-ends';
import { Groups, type Grant, type Member } from './pool-groups';
import { PoolLines } from './pool-lines';
import { PoolRest, type RestLimits } from './pool-rest';
import { PoolRoom, type RoomLimits } from './pool-room';
import type { RunHooks } from './active-run';
import type { SandboxProcess } from './sandbox-process';
import { SandboxStock, type StockLimits } from './sandbox-stock';

export interface PoolLimits extends StockLimits, RoomLimits, DispatchLimits, RestLimits {
  readonly queueLengthMax: number;
}

interface PoolRun {
  readonly order: RunOrder;
  /** Called only when a process has to load the code. */
  readonly fetchCode: () => Promise<Buffer>;
  readonly hooks: RunHooks;
  readonly signal: AbortSignal;
}

const sweepIntervalMs = 2_000;
/** Counted for an order besides its arguments. */
const orderBaseBytes = 1_024;

/** Hands each run a process of its key, and never a process of another. */
export class SandboxPool {
  private readonly groups = new Groups();
  private readonly lines: PoolLines;
  private readonly room: PoolRoom;
  private readonly stock: SandboxStock;
  private readonly dispatch: PoolDispatch;
  private readonly resting: PoolRest;
  private readonly sweeper: NodeJS.Timeout;
  private readonly stopping = new AbortController();
  /** Processes that were ended, by reason. */
  readonly ended = new Map<EndReason, number>(endReasons.map((reason) => [reason, 0]));

  constructor(
    launch: (runtime: Runtime) => SandboxProcess,
    private readonly limits: PoolLimits,
    logger: Logger,
  ) {
    const end = (member: Member, reason: EndReason): void => this.end(member, reason);
    this.lines = new PoolLines(limits.queueLengthMax);
    this.room = new PoolRoom(limits, (member) => end(member, 'evicted'));
    this.stock = new SandboxStock(launch, limits, logger, this.stopping.signal);
    this.resting = new PoolRest(limits, {
      ...{ room: this.room, end },
      offer: (member) => this.dispatch.offer(member),
      onFrozen: () => this.dispatch.serveSoon(),
    });
    this.dispatch = new PoolDispatch(limits, {
      ...{
        groups: this.groups,
        lines: this.lines,
        room: this.room,
        stock: this.stock,
        end,
      },
      rest: (member) => this.resting.keep(member),
      leaveIdle: (member) => this.resting.leaveIdle(member),
    });
    this.sweeper = setInterval(() => this.resting.sweep(), sweepIntervalMs);
    this.sweeper.unref();
  }

  /**
   * Resolves when one process of each runtime is ready, which proves that runs are possible here.
   */
  warmUp(): Promise<void> {
    return this.stock.warmUp();
  }

  /** False while sandboxes cannot be started. */
  get isWorking(): boolean {
    return this.stock.isWorking;
  }

  get counts(): { loaded: number; idle: number; generic: number; waiting: number } {
    return {
      loaded: this.room.places.state.held,
      idle: this.room.idle.size,
      generic: this.stock.size,
      waiting: this.lines.size,
    };
  }

  get oldestWaitMs(): number {
    return this.lines.oldestWaitMs;
  }

  get memory(): { capBytes: number; reservedBytes: number; privateBytes: number } {
    return {
      capBytes: this.limits.memory.capMb * 1024 ** 2,
      reservedBytes: this.room.reservedBytes,
      privateBytes: this.stock.privateBytes,
    };
  }

  get shares(): Readonly<Record<string, Shares>> {
    const { places, running, asyncRuns } = this.room;
    const names = { sandboxes: places, running_sandboxes: running, async_runs: asyncRuns };
    const { places: waiting, orderBytes } = this.lines;
    return { ...names, waiting_runs: waiting, order_bytes: orderBytes };
  }

  async run(run: PoolRun): Promise<UnreadOutcome> {
    const { order, signal } = run;
    const { tenantId } = order;
    const orderBytes = order.input.length + orderBaseBytes;
    if (!this.lines.orderBytes.hasRoom(tenantId, orderBytes)) return { kind: 'no_capacity' };
    const keptOrder = this.lines.orderBytes.takeNow(tenantId, orderBytes);
    const askedAt = performance.now();
    try {
      const grant = await this.dispatch.obtain(this.groups.of(order), order, signal);
      if (grant === undefined) return signal.aborted ? cancelled : { kind: 'no_capacity' };
      const queuedMs = Math.round(performance.now() - askedAt);
      return { ...(await this.use(grant, run)), queuedMs };
    } finally {
      keptOrder();
    }
  }

  /** Kills every process. The caller has waited for the runs that should finish. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearInterval(this.sweeper);
    this.dispatch.stop();
    for (const member of this.room.idle) this.resting.leaveIdle(member);
    await this.stock.end();
  }

  private async use({ member, permit }: Grant, run: PoolRun): Promise<UnreadOutcome> {
    const { order, fetchCode, hooks, signal } = run;
    const { process } = member;
    const abandoned = new AbortController();
    const cancel = (): void => {
      process.kill('cancelled');
      abandoned.abort();
    };
    signal.addEventListener('abort', cancel, { once: true });
    let outcome: UnreadOutcome = cancelled;
    member.runs += 1;
    try {
      if (signal.aborted) cancel();
      const code = process.isLoaded ? undefined : await unlessAborted(fetchCode, abandoned.signal);
      if (!signal.aborted) outcome = await process.execute(order, code, hooks);
    } catch {
      if (!signal.aborted) outcome = { kind: 'died', reason: 'the code did not arrive' };
    } finally {
      signal.removeEventListener('abort', cancel);
      this.takeBack(member, outcome);
      permit?.();
      this.dispatch.serveSoon();
    }
    return outcome;
  }

  private takeBack(member: Member, outcome: UnreadOutcome): void {
    const reason = this.stopping.signal.aborted ? 'stopped' : reasonAfterRun(member, outcome);
    if (reason === undefined) void this.resting.take(member);
    else this.end(member, reason);
  }

  private end(member: Member, reason: EndReason): void {
    if (member.hasEnded) return;
    member.hasEnded = true;
    this.ended.set(reason, (this.ended.get(reason) ?? 0) + 1);
    this.resting.leaveIdle(member);
    member.process.kill(reason);
    member.group.processes -= 1;
    this.room.leave(member.seat);
    this.groups.forgetIfEmpty(member.group);
    this.dispatch.serveSoon();
  }
}

/** Rejects at the abort, however long the work takes. */
function unlessAborted<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    work().then(resolve, reject);
  });
}

const cancelled: UnreadOutcome = { kind: 'died', reason: 'cancelled' };
