import { setMaxListeners } from 'node:events';
import { processKey, type RunOrder, type Runtime, type UnreadOutcome } from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
import { Shares, type Release } from '@glovebox/shares';
import type { RunHooks } from './active-run';
import type { SandboxProcess } from './sandbox-process';
import { SandboxStock, type StockLimits } from './sandbox-stock';

export interface PoolLimits extends StockLimits {
  /** Processes with a customer's code: in all, shared between tenants, and of one resource. */
  readonly processesMax: number;
  readonly processesPerKeyMax: number;
  readonly idleTtlMs: number;
  /** A run that waits longer for a process ends with no capacity. */
  readonly queueWaitMs: number;
  readonly queueLengthMax: number;
  /** Runs wait this long for existing processes before one more is started. */
  readonly growAfterMs: number;
}

interface PoolRun {
  readonly order: RunOrder;
  /** Called only when a process has to load the code. */
  readonly fetchCode: () => Promise<Buffer>;
  readonly hooks: RunHooks;
  readonly signal: AbortSignal;
}

interface Idle {
  readonly process: SandboxProcess;
  readonly since: number;
  readonly freezing: NodeJS.Timeout;
}

interface Waiter {
  /** Undefined: no capacity. */
  settle(process: SandboxProcess | undefined): void;
}

/** The processes of one key. */
interface Group {
  readonly key: string;
  readonly tenantId: string;
  readonly runtime: Runtime;
  /** `isolation: "run"`: each process serves one run. */
  readonly once: boolean;
  /** One for each process, out of the places that tenants share. */
  readonly places: Release[];
  /** Processes whose run is over, and that are not yet known to be fit for another one. */
  resting: number;
  /** Processes that are started for waiting runs and not ready yet. */
  starting: number;
  idle: Idle[];
  waiting: Waiter[];
  growth: NodeJS.Timeout | undefined;
}

const sweepIntervalMs = 2_000;
/** A process that has not come to rest by then, after its run, is ended. */
const restLimitMs = 500;
/** A process is frozen only after this pause, for runs that follow each other closely. */
const freezeAfterMs = 10;

/** Hands each run a process of its key, and never a process of another. */
export class SandboxPool {
  private readonly groups = new Map<string, Group>();
  private readonly shares: Shares;
  private readonly stock: SandboxStock;
  private readonly sweeper: NodeJS.Timeout;
  private readonly stopping = new AbortController();

  constructor(
    launch: (runtime: Runtime) => SandboxProcess,
    private readonly limits: PoolLimits,
    private readonly logger: Logger,
  ) {
    this.shares = new Shares({ places: limits.processesMax });
    this.stock = new SandboxStock(launch, limits, logger, this.stopping.signal);
    // Every run that waits for a start listens to it.
    setMaxListeners(0, this.stopping.signal);
    this.sweeper = setInterval(() => this.sweep(), sweepIntervalMs);
    this.sweeper.unref();
  }

  /**
   * Resolves when one process of each runtime is ready, which proves that runs are possible here.
   */
  warmUp(): Promise<void> {
    return this.stock.warmUp();
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  get counts(): { loaded: number; idle: number; generic: number; waiting: number } {
    const groups = [...this.groups.values()];
    return {
      loaded: this.shares.state.held,
      idle: groups.reduce((sum, group) => sum + group.idle.length, 0),
      generic: this.stock.size,
      waiting: groups.reduce((sum, group) => sum + group.waiting.length, 0),
    };
  }

  async run({ order, fetchCode, hooks, signal }: PoolRun): Promise<UnreadOutcome> {
    const group = this.groupOf(order);
    const askedAt = performance.now();
    const process = await this.obtain(
      group,
      Math.min(this.limits.queueWaitMs, order.timeoutMs),
      signal,
    );
    if (process === undefined) {
      this.forgetIfEmpty(group);
      return signal.aborted ? cancelled : { kind: 'no_capacity' };
    }
    const queuedMs = Math.round(performance.now() - askedAt);
    const cancel = (): void => process.kill('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const code = process.isLoaded ? undefined : await fetchCode();
      if (signal.aborted) return cancelled;
      return { ...(await process.execute(order, code, hooks)), queuedMs };
    } catch {
      return { kind: 'died', reason: 'the code did not arrive' };
    } finally {
      signal.removeEventListener('abort', cancel);
      this.release(group, process);
    }
  }

  /** Kills every process. The caller has waited for the runs that should finish. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearInterval(this.sweeper);
    for (const group of this.groups.values()) {
      clearTimeout(group.growth);
      for (const waiter of group.waiting.splice(0)) waiter.settle(undefined);
    }
    await this.stock.end();
  }

  // ---- handing out ----

  private async obtain(
    group: Group,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<SandboxProcess | undefined> {
    if (this.isStopping || signal.aborted) return undefined;
    for (let idle = group.idle.pop(); idle !== undefined; idle = group.idle.pop()) {
      clearTimeout(idle.freezing);
      if (await idle.process.wakesWithin(restLimitMs)) return idle.process;
      this.discard(group, idle.process, 'busy between runs');
    }
    if ((group.places.length === 0 || group.once) && this.reserve(group))
      return this.specialise(group);
    if (group.waiting.length >= this.limits.queueLengthMax) return undefined;
    return this.wait(group, waitMs, signal);
  }

  private wait(
    group: Group,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<SandboxProcess | undefined> {
    return new Promise((resolve) => {
      const giveUp = (): void => {
        group.waiting = group.waiting.filter((other) => other !== waiter);
        waiter.settle(undefined);
      };
      const timer = setTimeout(giveUp, waitMs);
      const waiter: Waiter = {
        settle: (process) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          resolve(process);
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.groups.set(group.key, group);
      group.waiting.push(waiter);
      this.growLater(group);
    });
  }

  /** Short runs share the existing processes. Only a noticeable wait starts another one. */
  private growLater(group: Group): void {
    group.growth ??= setTimeout(() => {
      group.growth = undefined;
      if (group.waiting.length === 0 || this.isStopping) return;
      this.grow(group);
      this.growLater(group);
    }, this.limits.growAfterMs);
  }

  private grow(group: Group): void {
    const expected = group.starting + group.resting;
    if (group.waiting.length <= expected || !this.reserve(group)) return;
    group.starting += 1;
    void this.specialise(group).then((process) => {
      group.starting -= 1;
      const waiter = group.waiting.shift();
      if (waiter !== undefined) waiter.settle(process);
      else if (process !== undefined) this.takeBack(group, process);
    });
  }

  /** Takes a place in the limits. Where there is none, an idle process is ended for it. */
  private reserve(group: Group): boolean {
    if (this.isStopping || group.places.length >= this.limits.processesPerKeyMax) return false;
    const { tenantId } = group;
    let place = this.takePlace(tenantId);
    while (place === undefined && this.evictFor(tenantId)) place = this.takePlace(tenantId);
    if (place === undefined) return false;
    this.groups.set(group.key, group);
    group.places.push(place);
    return true;
  }

  private takePlace(tenantId: string): Release | undefined {
    try {
      return this.shares.takeNow(tenantId);
    } catch {
      return undefined;
    }
  }

  /** Ends an idle process of the largest holder; another tenant's only if that one holds more. */
  private evictFor(tenantId: string): boolean {
    const held = (group: Group): number => this.shares.heldBy(group.tenantId);
    const own = this.shares.heldBy(tenantId);
    let victim: { group: Group; idle: Idle } | undefined;
    for (const group of this.groups.values()) {
      const [idle] = group.idle;
      if (idle === undefined || (group.tenantId !== tenantId && held(group) <= own)) continue;
      const more = victim === undefined ? 1 : held(group) - held(victim.group);
      if (victim === undefined || more > 0 || (more === 0 && idle.since < victim.idle.since)) {
        victim = { group, idle };
      }
    }
    if (victim === undefined) return false;
    this.dropIdle(victim.group, victim.idle, 'evicted');
    return true;
  }

  /** Takes a generic process, which from now on belongs to this key. */
  private async specialise(group: Group): Promise<SandboxProcess | undefined> {
    try {
      return await this.stock.take(group.tenantId, group.runtime);
    } catch (error) {
      const reason = String(error);
      if (!this.isStopping) this.logger.error({ reason }, 'a sandbox could not be started');
      this.giveBackPlace(group);
      return undefined;
    }
  }

  /** Removes a run that waits no longer. */
  private takeBack(group: Group, process: SandboxProcess): void {
    this.giveBackPlace(group);
    this.stock.giveBack(group.runtime, process);
    this.serveWaiting();
  }

  // ---- taking back ----

  private release(group: Group, process: SandboxProcess): void {
    if (process.isDead || group.once || !process.isLoaded || this.isStopping) {
      this.discard(group, process, 'its run is over');
      this.serveWaiting();
    } else void this.rest(group, process);
  }

  /** A process is used again only when it has shown that its last run left nothing running. */
  private async rest(group: Group, process: SandboxProcess): Promise<void> {
    group.resting += 1;
    const isAtRest = await process.answersWithin(restLimitMs);
    group.resting -= 1;
    if (!isAtRest || this.isStopping) this.discard(group, process, 'busy after its run');
    else {
      const waiter = group.waiting.shift();
      if (waiter !== undefined) return waiter.settle(process);
      const freezing = setTimeout(() => void this.freeze(group, idle), freezeAfterMs);
      const idle: Idle = { process, since: performance.now(), freezing };
      group.idle.push(idle);
    }
    this.serveWaiting();
  }

  /** Asks once more: a process that is frozen while it spins could not take the next run. */
  private async freeze(group: Group, idle: Idle): Promise<void> {
    const isAtRest = await idle.process.answersWithin(restLimitMs);
    if (!group.idle.includes(idle)) return;
    if (isAtRest) idle.process.freeze();
    else this.dropIdle(group, idle, 'busy between runs');
  }

  private discard(group: Group, process: SandboxProcess, reason: string): void {
    process.kill(reason);
    this.giveBackPlace(group);
  }

  /**
   * Hands out places that are free or can be freed by eviction. The smallest holder comes first.
   */
  private serveWaiting(): void {
    const waiting = [...this.groups.values()].filter(
      (group) => group.waiting.length > 0 && (group.places.length === 0 || group.once),
    );
    const held = (group: Group): number => this.shares.heldBy(group.tenantId);
    for (const group of waiting.sort((a, b) => held(a) - held(b))) this.grow(group);
  }

  private sweep(): void {
    const longAgo = performance.now() - this.limits.idleTtlMs;
    for (const group of this.groups.values()) {
      for (const idle of group.idle) {
        if (idle.since < longAgo || idle.process.isDead) this.dropIdle(group, idle, 'idle');
      }
    }
  }

  private dropIdle(group: Group, idle: Idle, reason: string): void {
    clearTimeout(idle.freezing);
    group.idle = group.idle.filter((other) => other !== idle);
    this.discard(group, idle.process, reason);
  }

  // ---- book-keeping ----

  private groupOf(order: RunOrder): Group {
    const once = order.isolation === 'run';
    const key = `${order.isolation} ${processKey(order)}`;
    const known = this.groups.get(key);
    if (known !== undefined) return known;
    const { tenantId, runtime } = order;
    const group: Group = {
      ...{ key, tenantId, runtime, once },
      places: [],
      resting: 0,
      starting: 0,
      idle: [],
      waiting: [],
      growth: undefined,
    };
    this.groups.set(key, group);
    return group;
  }

  private forgetIfEmpty(group: Group): void {
    if (group.places.length > 0 || group.waiting.length > 0) return;
    clearTimeout(group.growth);
    group.growth = undefined;
    if (this.groups.get(group.key) === group) this.groups.delete(group.key);
  }

  private giveBackPlace(group: Group): void {
    group.places.pop()?.();
    this.forgetIfEmpty(group);
  }
}

const cancelled: UnreadOutcome = { kind: 'died', reason: 'cancelled' };
