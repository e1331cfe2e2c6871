import type { Cancellation, RunOrder, Runtime, UnreadOutcome } from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
import type { Release, Shares } from '@glovebox/shares';
import type { SandboxProcess } from '../process/sandbox-process';
import { watchForSilence } from '../process/silence';
import type { RunHooks } from '../run/active-run';
import { BetweenRuns, type RestLimits } from './between-runs';
import { endReasons, reasonAfterRun, type EndReason } from './end-reasons';
import {
  lastUsed,
  ProcessGroups,
  type Grant,
  type PooledProcess,
  type ProcessGroup,
  type WaitingRun,
} from './process-groups';
import { asyncPartOf, PoolRoom, type RoomLimits } from './room';
import { SandboxStock, type StockLimits } from './sandbox-stock';
import { WaitingLine } from './waiting-line';

export interface PoolLimits extends StockLimits, RoomLimits, RestLimits {
  readonly queueLengthMax: number;
  readonly processesPerKeyMax: number;
  /** A run that waits longer for a process ends with no capacity. */
  readonly queueWaitMs: number;
  /** Runs wait this long for existing processes before one more is started. */
  readonly growAfterMs: number;
}

export interface PoolRun {
  readonly order: RunOrder;
  /** Called only when a process has to load the code. */
  readonly fetchCode: () => Promise<Buffer>;
  readonly hooks: RunHooks;
  readonly signal: Cancellation;
}

type RunTraits = Pick<WaitingRun, 'urgency' | 'group'> & Partial<Pick<WaitingRun, 'promise'>>;

const sweepIntervalMs = 2_000;
/** Counted for an order besides its arguments. */
const orderBaseBytes = 1_024;
/** An idle process that has not answered by then is ended. */
const answerLimitMs = 1_500;
/** A timer may be this much early. */
const timerEarlyMs = 1;

/** Hands each run a process of its key, and never a process of another. */
export class SandboxPool {
  private readonly groups = new ProcessGroups();
  private readonly line: WaitingLine;
  private readonly room: PoolRoom;
  private readonly stock: SandboxStock;
  private readonly betweenRuns: BetweenRuns;
  private readonly sweeper: NodeJS.Timeout;
  private readonly stopping = new AbortController();
  /** The process that has just answered after its run. It needs not be asked again. */
  private fresh: PooledProcess | undefined;
  private willServe = false;
  /** Processes that were ended, by reason. */
  readonly ended = new Map<EndReason, number>(endReasons.map((reason) => [reason, 0]));

  constructor(
    launch: (runtime: Runtime) => SandboxProcess,
    private readonly limits: PoolLimits,
    logger: Logger,
  ) {
    this.line = new WaitingLine(limits.queueLengthMax);
    this.room = new PoolRoom(limits, (process) => this.end(process, 'evicted'));
    this.stock = new SandboxStock(launch, limits, logger, this.stopping.signal);
    this.betweenRuns = new BetweenRuns(limits, {
      room: this.room,
      end: (process, reason) => this.end(process, reason),
      offer: (process) => this.offer(process),
      serveSoon: () => this.serveSoon(),
    });
    this.sweeper = setInterval(() => {
      this.betweenRuns.sweep();
      this.stock.sweep();
    }, sweepIntervalMs);
    this.sweeper.unref();
  }

  /** Resolves when a process is ready, which proves that runs are possible here. */
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
      idle: this.room.idle.length,
      generic: this.stock.size,
      waiting: this.line.runs.size,
    };
  }

  get oldestWaitMs(): number {
    return this.line.oldestWaitMs;
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
    return { ...names, waiting_runs: this.line.places, order_bytes: this.line.orderBytes };
  }

  /** The whole story of a run: it gets a process, is executed there, and leaves it to the next. */
  async run(run: PoolRun): Promise<UnreadOutcome> {
    const { order, signal } = run;
    const orderBytes = order.input.length + orderBaseBytes;
    if (!this.line.orderBytes.hasRoom(order.tenantId, orderBytes)) return { kind: 'no_capacity' };
    const keptOrder = this.line.orderBytes.takeNow(order.tenantId, orderBytes);
    const askedAt = performance.now();
    this.stock.noteOrder(order.runtime, askedAt);
    try {
      const obtained = this.obtain(order, signal, askedAt);
      const grant = obtained instanceof Promise ? await obtained : obtained;
      if (grant === undefined) return signal.aborted ? cancelled : { kind: 'no_capacity' };
      const queuedMs = Math.round(performance.now() - askedAt);
      const outcome = await this.use(grant, run);
      // Hot path: nearly every outcome has a value.
      if ('value' in outcome) return { kind: outcome.kind, value: outcome.value, queuedMs };
      return { ...outcome, queuedMs };
    } finally {
      keptOrder();
    }
  }

  /** Kills every process. The caller has waited for the runs that should finish. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearInterval(this.sweeper);
    for (const run of [...this.line.runs]) this.dismiss(run);
    for (const { freezing } of this.room.idle) clearTimeout(freezing);
    await this.stock.end();
  }

  private async use({ process, permit }: Grant, run: PoolRun): Promise<UnreadOutcome> {
    const { order, fetchCode, hooks, signal } = run;
    const { sandbox } = process;
    const cancel = (): void => sandbox.kill('cancelled');
    signal.addEventListener('abort', cancel);
    let outcome: UnreadOutcome = cancelled;
    process.runs += 1;
    try {
      if (signal.aborted) cancel();
      const code = sandbox.isLoaded ? undefined : await unlessAborted(fetchCode, signal);
      if (!signal.aborted) outcome = await sandbox.execute(order, code, hooks);
    } catch {
      if (!signal.aborted) outcome = { kind: 'died', reason: 'the code did not arrive' };
    } finally {
      signal.removeEventListener('abort', cancel);
      this.takeBack(process, outcome);
      permit?.();
      this.serveSoon();
    }
    return outcome;
  }

  private takeBack(process: PooledProcess, outcome: UnreadOutcome): void {
    if (process.state !== 'serving') return;
    const reason = this.stopping.signal.aborted ? 'stopped' : reasonAfterRun(process, outcome);
    if (reason === undefined) this.betweenRuns.rest(process);
    else this.end(process, reason);
  }

  private end(process: PooledProcess, reason: EndReason): void {
    if (process.state === 'ended' || process.state === 'gone') return;
    this.ended.set(reason, (this.ended.get(reason) ?? 0) + 1);
    process.sandbox.kill(reason);
    this.leave(process);
    this.serveSoon();
  }

  private leave(process: PooledProcess): void {
    this.room.end(process);
    process.group.processes.delete(process);
    this.groups.forgetIfEmpty(process.group);
  }

  // ---- the runs that wait ----

  /** Undefined: there is no capacity, or nobody waits for the run any more. */
  private obtain(
    order: RunOrder,
    signal: Cancellation,
    since: number,
  ): Grant | Promise<Grant | undefined> {
    const group = this.groups.groupFor(order);
    const { urgency } = order;
    const isOver = signal.aborted || this.stopping.signal.aborted;
    const idle = isOver || !this.mayRun({ urgency, group }) ? undefined : lastUsed(group);
    // Most runs find a process at rest, and make nothing to wait with.
    if (idle !== undefined && isAtRest(idle)) {
      idle.become('serving');
      this.line.endTurn(group);
      return { process: idle, permit: this.permitFor({ urgency, group }) };
    }
    const waitMs = Math.min(this.limits.queueWaitMs, order.timeoutMs);
    return new Promise((resolve) => {
      const settle = (grant: Grant | undefined): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        resolve(grant);
      };
      const run: WaitingRun = {
        ...{ group, urgency, since, until: since + waitMs },
        ...{ resolve: settle, promise: undefined },
      };
      const giveUp = (): void => this.dismiss(run);
      // A thread that was kept busy reads what has come in meanwhile before it gives up.
      const timer = setTimeout(() => setImmediate(() => this.dismissUnpromised(run)), waitMs);
      if (isOver || !this.line.join(run)) {
        this.groups.forgetIfEmpty(group);
        return settle(undefined);
      }
      signal.addEventListener('abort', giveUp);
      this.serveGroup(group);
      this.growLater(group);
    });
  }

  /** Offers a process that has just come to rest to the runs that wait. */
  private offer(process: PooledProcess): void {
    this.fresh = process;
    this.serve();
    this.fresh = undefined;
    if (process.state !== 'idle') return;
    // The runs of its group may all have the promise of another process, which takes longer.
    for (const run of process.group.waiting) {
      if (this.mayRun(run)) return this.settle(run, process);
    }
  }

  /** Called whenever something has come free. */
  private serveSoon(): void {
    if (this.willServe || this.line.isQuiet) return;
    this.willServe = true;
    queueMicrotask(() => {
      this.willServe = false;
      this.serve();
    });
  }

  private serve(): void {
    for (let served = true; served && !this.line.isQuiet && !this.stopping.signal.aborted;) {
      served = false;
      for (const group of this.line.groupsInTurn((tenant) => this.room.places.heldBy(tenant))) {
        served = this.serveGroup(group);
        if (served) break;
      }
    }
  }

  private serveGroup(group: ProcessGroup, mayGrow = group.once): boolean {
    for (const run of this.line.called(group)) {
      if (!this.mayRun(run)) continue;
      const mayStart = mayGrow || group.processes.size === 0;
      const isServed = this.giveIdle(run) || (mayStart && this.startFor(run));
      if (isServed) this.line.endTurn(group);
      return isServed;
    }
    return false;
  }

  /** Short runs share the existing processes. Only a noticeable wait starts another one. */
  private growLater(group: ProcessGroup): void {
    if (group.growth !== undefined || group.processes.size === 0 || group.waiting.size === 0)
      return;
    group.growth = setTimeout(() => {
      group.growth = undefined;
      if (this.stopping.signal.aborted) return;
      let expected = 0;
      for (const { state, isSilent } of group.processes) {
        if (state === 'resting' && !isSilent) expected += 1;
      }
      if (this.line.called(group).size > expected) this.serveGroup(group, true);
      this.growLater(group);
    }, this.limits.growAfterMs);
  }

  /** An async run leaves sync runs a part of all places, and of those of its group. */
  private mayRun({ urgency, promise, group }: RunTraits): boolean {
    if (urgency === 'sync' || promise !== undefined) return true;
    const ofGroup = asyncPartOf(this.limits.processesPerKeyMax);
    return group.asyncRuns < ofGroup && this.room.asyncRuns.hasRoom(group.tenantId);
  }

  private permitFor({ urgency, group }: RunTraits): Release | undefined {
    if (urgency === 'sync') return undefined;
    this.room.asyncRuns.enter(group.tenantId);
    group.asyncRuns += 1;
    return () => {
      group.asyncRuns -= 1;
      this.room.asyncRuns.leave(group.tenantId);
    };
  }

  private settle(run: WaitingRun, process: PooledProcess): void {
    const { promise } = run;
    const permit = promise === undefined ? this.permitFor(run) : promise.permit;
    this.line.leave(run);
    process.become('serving');
    run.resolve({ process, permit });
    if (promise !== undefined) this.passOn(promise.process);
  }

  private dismiss(run: WaitingRun): void {
    if (!this.line.runs.has(run)) return;
    const { promise } = run;
    this.line.leave(run);
    promise?.permit?.();
    run.resolve(undefined);
    if (promise !== undefined) this.passOn(promise.process);
    this.groups.forgetIfEmpty(run.group);
    if (promise?.permit !== undefined) this.serveSoon();
  }

  private dismissUnpromised(run: WaitingRun): void {
    if (run.promise === undefined) this.dismiss(run);
  }

  private promise(run: WaitingRun, process: PooledProcess): void {
    run.promise = { process, permit: this.permitFor(run) };
    this.line.hold(run);
  }

  private breakPromise(run: WaitingRun): void {
    run.promise?.permit?.();
    run.promise = undefined;
    if (performance.now() >= run.until - timerEarlyMs) return this.dismiss(run);
    this.line.call(run);
    this.serveGroup(run.group, true);
    this.growLater(run.group);
  }

  // ---- idle processes ----

  private giveIdle(run: WaitingRun): boolean {
    const process = lastUsed(run.group);
    if (process === undefined) return false;
    if (process.state === 'idle' && (process === this.fresh || isAtRest(process))) {
      this.settle(run, process);
      return true;
    }
    if (!this.room.wake(process)) return false;
    this.promise(run, process);
    void this.ask(run, process);
    return true;
  }

  /** What an earlier run left behind may keep an idle process from answering. */
  private async ask(run: WaitingRun, process: PooledProcess): Promise<void> {
    const lookElsewhere = (): void => {
      if (run.promise?.process === process && this.line.runs.has(run)) this.breakPromise(run);
    };
    const endWatch = watchForSilence(process.sandbox.pid, lookElsewhere);
    const isFit = await process.sandbox.wakesWithin(answerLimitMs);
    endWatch();
    if (process.state !== 'waking') return lookElsewhere();
    if (!isFit) {
      this.end(process, 'silent');
      lookElsewhere();
    } else if (this.line.runs.has(run) && this.mayRun(run)) this.settle(run, process);
    else this.betweenRuns.keep(process);
  }

  // ---- new processes ----

  private startFor(run: WaitingRun): boolean {
    const { group, since } = run;
    if (group.processes.size >= this.limits.processesPerKeyMax) return false;
    const process = this.room.admit(group, performance.now() - since);
    if (process === undefined) return false;
    this.promise(run, process);
    void this.start(process);
    this.growLater(group);
    return true;
  }

  private async start(process: PooledProcess): Promise<void> {
    const { group, startTurn } = process;
    const sandbox = await this.stock
      .take(group.tenantId, group.runtime, startTurn.signal)
      .catch(() => undefined);
    const run = promisedRun(process);
    if (sandbox !== undefined && run !== undefined) {
      process.hasStarted(sandbox);
      void sandbox.exited.then(() => {
        this.end(process, 'died');
        this.room.gone(process);
        this.serveSoon();
      });
      return this.settle(run, process);
    }
    if (process.state === 'starting') this.leave(process);
    if (run !== undefined) this.dismiss(run);
    if (sandbox !== undefined) await this.stock.giveBack(group.runtime, sandbox);
    this.room.gone(process);
    this.serveSoon();
  }

  /** Its run needs it no more: the next one gets it, or else it becomes a generic one. */
  private passOn(process: PooledProcess): void {
    if (process.state !== 'starting') return;
    for (const run of this.line.called(process.group)) {
      if (this.mayRun(run)) return this.promise(run, process);
    }
    this.leave(process);
    process.startTurn.abort();
  }
}

/** Nothing can happen in it before its next run. */
const isAtRest = ({ state, sandbox }: PooledProcess): boolean =>
  state === 'idle' && sandbox.isQuiet;

function promisedRun(process: PooledProcess): WaitingRun | undefined {
  for (const run of process.group.waiting) if (run.promise?.process === process) return run;
  return undefined;
}

/** Rejects at the abort, however long the work takes. */
function unlessAborted<Result>(work: () => Promise<Result>, signal: Cancellation): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error('cancelled'));
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort);
    work().then(resolve, reject);
  });
}

const cancelled: UnreadOutcome = { kind: 'died', reason: 'cancelled' };
