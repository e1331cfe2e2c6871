import { processKey, type RunOrder, type RunOutcome, type Runtime } from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
import type { RunHooks, SandboxProcess } from './sandbox-process';

export interface PoolLimits {
  /** Processes that hold a customer's code, in all, of one tenant, of one resource. */
  readonly processesMax: number;
  readonly processesPerTenantMax: number;
  readonly processesPerKeyMax: number;
  /** Generic processes kept ready, of each runtime. */
  readonly warmPerRuntime: number;
  readonly idleTtlMs: number;
  /** How long a run waits for a process before it is told that there is no capacity. */
  readonly queueWaitMs: number;
  readonly queueLengthMax: number;
  /** How long runs wait for the processes that exist before one more is started. */
  readonly growAfterMs: number;
}

export interface PoolRun {
  readonly order: RunOrder;
  /** Asked for only when a process has to load it. */
  readonly fetchCode: () => Promise<string>;
  readonly hooks: RunHooks;
  readonly signal: AbortSignal;
}

interface Idle {
  readonly process: SandboxProcess;
  readonly since: number;
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
  size: number;
  /** Started for those who wait, not ready yet. */
  starting: number;
  idle: Idle[];
  waiting: Waiter[];
  growth: NodeJS.Timeout | undefined;
}

const sweepIntervalMs = 2_000;
const pingLimitMs = 1_000;
const refillDelayMs = 20;
const refillRetryMs = 1_000;

/** Hands each run a process of its key, and never a process of another. */
export class SandboxPool {
  private readonly groups = new Map<string, Group>();
  private readonly tenants = new Map<string, number>();
  private readonly generic: Record<Runtime, SandboxProcess[]> = { node16: [], node20: [] };
  private readonly alive = new Set<SandboxProcess>();
  private readonly sweeper: NodeJS.Timeout;
  private size = 0;
  private isStopping = false;

  constructor(
    private readonly launch: (runtime: Runtime) => SandboxProcess,
    private readonly limits: PoolLimits,
    private readonly logger: Logger,
  ) {
    this.sweeper = setInterval(() => this.sweep(), sweepIntervalMs);
    this.sweeper.unref();
  }

  /** Resolves when one process of each runtime is ready: proof that runs are possible here. */
  async warmUp(): Promise<void> {
    const runtimes = Object.keys(this.generic) as Runtime[];
    runtimes.forEach((runtime) => this.refill(runtime));
    await Promise.all(runtimes.map((runtime) => this.generic[runtime][0]?.ready));
  }

  get counts(): { loaded: number; idle: number; generic: number; waiting: number } {
    const groups = [...this.groups.values()];
    return {
      loaded: this.size,
      idle: groups.reduce((sum, group) => sum + group.idle.length, 0),
      generic: Object.values(this.generic).reduce((sum, list) => sum + list.length, 0),
      waiting: groups.reduce((sum, group) => sum + group.waiting.length, 0),
    };
  }

  async run({ order, fetchCode, hooks, signal }: PoolRun): Promise<RunOutcome> {
    const group = this.groupOf(order);
    const process = await this.obtain(
      group,
      Math.min(this.limits.queueWaitMs, order.timeoutMs),
      signal,
    );
    if (process === undefined) {
      this.forgetIfEmpty(group);
      return signal.aborted ? cancelled : { kind: 'no_capacity' };
    }
    const cancel = (): void => process.kill('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const code = process.isLoaded ? undefined : await fetchCode();
      if (signal.aborted) return cancelled;
      return await process.execute(order, code, hooks);
    } catch {
      return { kind: 'died', reason: 'the code did not arrive' };
    } finally {
      signal.removeEventListener('abort', cancel);
      this.release(group, process);
    }
  }

  /** Kills everything. The caller has waited for the runs that it wants to see finished. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearInterval(this.sweeper);
    for (const group of this.groups.values()) {
      clearTimeout(group.growth);
      for (const waiter of group.waiting.splice(0)) waiter.settle(undefined);
    }
    const processes = [...this.alive];
    for (const process of processes) process.kill('the runner stops');
    await Promise.all(processes.map((process) => process.exited));
  }

  // ---- handing out ----

  private async obtain(
    group: Group,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<SandboxProcess | undefined> {
    if (this.isStopping || signal.aborted) return undefined;
    for (let idle = group.idle.pop(); idle !== undefined; idle = group.idle.pop()) {
      if (!idle.process.isDead) return idle.process;
    }
    if ((group.size === 0 || group.once) && this.reserve(group)) return this.specialise(group);
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
      group.waiting.push(waiter);
      this.growLater(group);
    });
  }

  /** Short runs share what is there; only runs that would wait noticeably get another process. */
  private growLater(group: Group): void {
    group.growth ??= setTimeout(() => {
      group.growth = undefined;
      if (group.waiting.length === 0 || this.isStopping) return;
      this.grow(group);
      this.growLater(group);
    }, this.limits.growAfterMs);
  }

  private grow(group: Group): void {
    if (group.waiting.length <= group.starting || !this.reserve(group)) return;
    group.starting += 1;
    void this.specialise(group).then((process) => {
      group.starting -= 1;
      const waiter = group.waiting.shift();
      if (waiter !== undefined) waiter.settle(process);
      else if (process !== undefined) this.release(group, process);
    });
  }

  /** Takes a place in the limits, at the cost of an idle process if need be. */
  private reserve(group: Group): boolean {
    if (this.isStopping || group.size >= this.limits.processesPerKeyMax) return false;
    const ofTenant = (): number => this.tenants.get(group.tenantId) ?? 0;
    if (ofTenant() >= this.limits.processesPerTenantMax) this.evict(group.tenantId);
    if (ofTenant() >= this.limits.processesPerTenantMax) return false;
    if (this.size >= this.limits.processesMax) this.evict(undefined);
    if (this.size >= this.limits.processesMax) return false;
    this.groups.set(group.key, group);
    this.count(group, 1);
    return true;
  }

  private evict(tenantId: string | undefined): void {
    let oldest: { group: Group; idle: Idle } | undefined;
    for (const group of this.groups.values()) {
      if (tenantId !== undefined && group.tenantId !== tenantId) continue;
      const [idle] = group.idle;
      if (idle !== undefined && (oldest === undefined || idle.since < oldest.idle.since)) {
        oldest = { group, idle };
      }
    }
    if (oldest === undefined) return;
    oldest.group.idle.shift();
    this.discard(oldest.group, oldest.idle.process, 'evicted');
  }

  /** A generic process that from now on belongs to this key. */
  private async specialise(group: Group): Promise<SandboxProcess | undefined> {
    const list = this.generic[group.runtime];
    let process = list.shift();
    while (process?.isDead) process = list.shift();
    process ??= this.start(group.runtime);
    setTimeout(() => this.refill(group.runtime), refillDelayMs).unref();
    try {
      await process.ready;
      return process;
    } catch (error) {
      this.logger.error({ reason: String(error) }, 'a sandbox could not be started');
      this.count(group, -1);
      this.forgetIfEmpty(group);
      return undefined;
    }
  }

  // ---- taking back ----

  private release(group: Group, process: SandboxProcess): void {
    if (process.isDead || group.once || !process.isLoaded || this.isStopping) {
      this.discard(group, process, 'its run is over');
    } else {
      const waiter = group.waiting.shift();
      if (waiter !== undefined) return waiter.settle(process);
      group.idle.push({ process, since: performance.now() });
    }
    this.serveWaiting();
  }

  private discard(group: Group, process: SandboxProcess, reason: string): void {
    process.kill(reason);
    this.count(group, -1);
    this.forgetIfEmpty(group);
  }

  /** A place may have come free, here or by an idle process that can be evicted. */
  private serveWaiting(): void {
    for (const group of this.groups.values()) {
      if (group.waiting.length > 0 && (group.size === 0 || group.once)) this.grow(group);
    }
  }

  private sweep(): void {
    const longAgo = performance.now() - this.limits.idleTtlMs;
    for (const group of this.groups.values()) {
      for (const idle of group.idle) {
        if (idle.since < longAgo || idle.process.isDead) this.dropIdle(group, idle, 'idle');
        else void this.dropIfSpinning(group, idle);
      }
    }
  }

  private async dropIfSpinning(group: Group, idle: Idle): Promise<void> {
    if (await idle.process.answersWithin(pingLimitMs)) return;
    this.dropIdle(group, idle, 'busy between runs');
  }

  private dropIdle(group: Group, idle: Idle, reason: string): void {
    if (!group.idle.includes(idle)) return;
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
      size: 0,
      starting: 0,
      idle: [],
      waiting: [],
      growth: undefined,
    };
    this.groups.set(key, group);
    return group;
  }

  private forgetIfEmpty(group: Group): void {
    if (group.size > 0 || group.waiting.length > 0) return;
    clearTimeout(group.growth);
    group.growth = undefined;
    if (this.groups.get(group.key) === group) this.groups.delete(group.key);
  }

  private count(group: Group, change: 1 | -1): void {
    group.size += change;
    this.size += change;
    const ofTenant = (this.tenants.get(group.tenantId) ?? 0) + change;
    if (ofTenant === 0) this.tenants.delete(group.tenantId);
    else this.tenants.set(group.tenantId, ofTenant);
  }

  private start(runtime: Runtime): SandboxProcess {
    const process = this.launch(runtime);
    this.alive.add(process);
    void process.exited.then(() => this.alive.delete(process));
    return process;
  }

  private refill(runtime: Runtime): void {
    const list = this.generic[runtime];
    while (!this.isStopping && list.length < this.limits.warmPerRuntime) {
      const process = this.start(runtime);
      list.push(process);
      void process.exited.then(() => {
        const at = list.indexOf(process);
        if (at === -1) return;
        list.splice(at, 1);
        if (this.isStopping) return;
        this.logger.warn({ runtime }, 'a waiting sandbox ended by itself');
        setTimeout(() => this.refill(runtime), refillRetryMs).unref();
      });
    }
  }
}

const cancelled: RunOutcome = { kind: 'died', reason: 'cancelled' };
