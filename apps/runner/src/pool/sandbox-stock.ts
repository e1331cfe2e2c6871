import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Runtime } from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import { aLineAMinute } from '../a-line-a-minute';
import { memoryOf } from '../process/memory';
import type { SandboxProcess } from '../process/sandbox-process';

export interface StockLimits {
  /** Processes with a customer's code. As many may wait to be started. */
  readonly processesMax: number;
  /**
   * Processes that start at the same time, shared between tenants and the stock of generic ones.
   */
  readonly startsMax: number;
  /** Generic processes kept ready, of each runtime in use. */
  readonly warmPerRuntime: number;
  /** The runtime that is in use before the first order. */
  readonly firstRuntime: Runtime;
  /** A runtime without orders for this long is not in use. */
  readonly idleTtlMs: number;
}

const refillDelayMs = 20;
const refillRetryMs = 1_000;
/** With so many failed starts in a row, sandboxes do not start any more. */
const failedStartsMax = 2;
/** The time from a failed start to the next try. It doubles with each one that fails. */
const startAgainFirstMs = 250;
const startAgainLastMs = 30_000;
const startWaitMs = 5_000;
const readyLimitMs = 10_000;
/** The stock takes its share of the starts like a tenant of this name. */
const stockOwner = 'stock';

/** The processes of one runtime that have no code yet. */
interface RuntimeStock {
  readonly generic: SandboxProcess[];
  /** Those that wait for their turn to be started. */
  ordered: number;
  /** Starts that failed since one succeeded. */
  failures: number;
  /** Its sandboxes do not start any more. Only `recover` starts one of them. */
  isFailing: boolean;
  lastOrderAt: number;
}

/** Starts processes, few at once, and keeps some generic ones of each runtime in use ready. */
export class SandboxStock {
  /** A start keeps a processor busy for some tenths of a second, so few start at once. */
  private readonly starts: Shares;
  private readonly stocks = new Map<Runtime, RuntimeStock>();
  private readonly alive = new Set<SandboxProcess>();
  /** Processes that were ended because there were enough. */
  private readonly surplus = new WeakSet<SandboxProcess>();
  private recovering: Promise<void> | undefined;
  private readonly complain: (reason: string) => void;

  constructor(
    private readonly launch: (runtime: Runtime) => SandboxProcess,
    private readonly limits: StockLimits,
    private readonly logger: Logger,
    private readonly stopping: AbortSignal,
  ) {
    const { processesMax, startsMax } = limits;
    this.complain = aLineAMinute((reason, before) =>
      logger.error({ reason, before }, 'a sandbox could not be started'),
    );
    // Every generic process that waits for its start listens to it.
    setMaxListeners(0, stopping);
    this.starts = new Shares({ places: startsMax, waitMs: startWaitMs, waitingMax: processesMax });
  }

  /** Resolves when one process is ready, which proves that runs are possible here. */
  async warmUp(): Promise<void> {
    const { firstRuntime } = this.limits;
    this.stockOf(firstRuntime).lastOrderAt = performance.now();
    await this.stockUp(firstRuntime);
    this.refill(firstRuntime);
  }

  /** Notes that a runtime is in use. Sandboxes of it are kept ready from now on. */
  noteOrder(runtime: Runtime, at: number): void {
    const stock = this.stockOf(runtime);
    const wasInUse = this.isInUse(stock);
    stock.lastOrderAt = at;
    // The run that ordered it starts first.
    if (!wasInUse) this.refillSoon(runtime, refillRetryMs);
  }

  /** Ends the generic processes of runtimes that are not in use any more. */
  sweep(): void {
    for (const stock of this.stocks.values()) {
      if (this.isInUse(stock)) continue;
      for (const process of stock.generic.splice(0)) this.endSurplus(process);
    }
  }

  /** False while sandboxes of a runtime cannot be started. */
  get isWorking(): boolean {
    return this.failing.length === 0;
  }

  get size(): number {
    let size = 0;
    for (const { generic } of this.stocks.values()) size += generic.length;
    return size;
  }

  /** The memory that all of these processes have now. */
  get privateBytes(): number {
    return [...this.alive].reduce(
      (sum, { pid }) => sum + (pid === undefined ? 0 : (memoryOf(pid)?.privateBytes ?? 0)),
      0,
    );
  }

  /** Returns a generic process that is ready, when it is the tenant's turn. */
  async take(tenantId: string, runtime: Runtime, signal: AbortSignal): Promise<SandboxProcess> {
    const endStart = await this.starts.take(tenantId, { signal }).catch((cause: unknown) => {
      const reason = 'its turn to be started has not come';
      if (!signal.aborted) this.complain(reason);
      throw new Error(reason, { cause });
    });
    try {
      const { generic, isFailing } = this.stockOf(runtime);
      let process = generic.shift();
      while (process?.isDead) process = generic.shift();
      if (process === undefined && isFailing) {
        throw new Error('no sandbox can be started at present');
      }
      process ??= this.start(runtime);
      await this.readyInTime(process);
      return process;
    } finally {
      endStart();
      this.refillSoon(runtime);
    }
  }

  /**
   * Takes back a process that never held code. The next run may use it. Resolves when no more of
   * them exist than are kept.
   */
  async giveBack(runtime: Runtime, process: SandboxProcess): Promise<void> {
    const { generic } = this.stockOf(runtime);
    generic.unshift(process);
    this.refillWhenGone(runtime, process);
    if (generic.length <= this.limits.warmPerRuntime) return;
    const surplus = generic.pop();
    if (surplus === undefined) return;
    this.endSurplus(surplus);
    await surplus.exited;
  }

  /** Kills every process that was ever taken from here or is kept here. */
  async end(): Promise<void> {
    const processes = [...this.alive];
    for (const process of processes) process.kill('the runner stops');
    await Promise.all(processes.map((process) => process.exited));
  }

  private start(runtime: Runtime): SandboxProcess {
    this.stopping.throwIfAborted();
    let process: SandboxProcess;
    try {
      process = this.launch(runtime);
    } catch (error) {
      this.onFailedStart(runtime, error);
      throw error;
    }
    this.alive.add(process);
    void process.exited.then(() => this.alive.delete(process));
    process.ready.then(
      () => (this.stockOf(runtime).failures = 0),
      (error: unknown) => {
        if (!this.surplus.has(process)) this.onFailedStart(runtime, error);
      },
    );
    return process;
  }

  /** On a busy machine one start may fail. Only when the next one fails too, all are stopped. */
  private onFailedStart(runtime: Runtime, error: unknown): void {
    if (this.stopping.aborted) return;
    this.complain(error instanceof Error ? error.message : String(error));
    const stock = this.stockOf(runtime);
    stock.failures += 1;
    if (stock.failures < failedStartsMax) return;
    stock.isFailing = true;
    this.recovering ??= this.recover();
  }

  /** Tries one start at a time, more and more seldom, until a sandbox of each runtime is ready. */
  private async recover(): Promise<void> {
    for (
      let waitMs = startAgainFirstMs;
      this.failing.length > 0;
      waitMs = Math.min(2 * waitMs, startAgainLastMs)
    ) {
      await delay(waitMs, undefined, { signal: this.stopping, ref: false }).catch(() => undefined);
      if (this.stopping.aborted) return;
      for (const runtime of this.failing) {
        const stocked = this.stockUp(runtime).then(() => (this.stockOf(runtime).isFailing = false));
        await stocked.catch(() => undefined);
      }
    }
    this.recovering = undefined;
    for (const runtime of this.stocks.keys()) this.refill(runtime);
  }

  private get failing(): Runtime[] {
    return [...this.stocks].flatMap(([runtime, { isFailing }]) => (isFailing ? [runtime] : []));
  }

  private stockOf(runtime: Runtime): RuntimeStock {
    const known = this.stocks.get(runtime);
    if (known !== undefined) return known;
    const none = { ordered: 0, failures: 0, isFailing: false, lastOrderAt: -Infinity };
    const stock: RuntimeStock = { generic: [], ...none };
    this.stocks.set(runtime, stock);
    return stock;
  }

  private isInUse({ lastOrderAt }: RuntimeStock): boolean {
    return performance.now() - lastOrderAt < this.limits.idleTtlMs;
  }

  private refillSoon(runtime: Runtime, delayMs = refillDelayMs): void {
    if (!this.stopping.aborted) setTimeout(() => this.refill(runtime), delayMs).unref();
  }

  private refill(runtime: Runtime): void {
    const stock = this.stockOf(runtime);
    if (stock.isFailing || !this.isInUse(stock) || this.stopping.aborted) return;
    while (stock.generic.length + stock.ordered < this.limits.warmPerRuntime) {
      void this.stockUp(runtime).catch(() => this.refillSoon(runtime, refillRetryMs));
    }
  }

  /** Starts one more generic process, and resolves when it is ready. */
  private async stockUp(runtime: Runtime): Promise<void> {
    const stock = this.stockOf(runtime);
    stock.ordered += 1;
    const turn = this.starts.take(stockOwner, { signal: this.stopping });
    const endStart = await turn.finally(() => (stock.ordered -= 1));
    try {
      // One that came back in the meantime is enough.
      if (stock.generic.length >= this.limits.warmPerRuntime) return;
      const process = this.start(runtime);
      stock.generic.push(process);
      this.refillWhenGone(runtime, process);
      await this.readyInTime(process);
    } finally {
      endStart();
    }
  }

  private endSurplus(process: SandboxProcess): void {
    this.surplus.add(process);
    process.kill('one too many');
  }

  private async readyInTime(process: SandboxProcess): Promise<void> {
    const timer = setTimeout(() => process.kill('did not start'), readyLimitMs);
    await process.ready.finally(() => clearTimeout(timer));
  }

  private refillWhenGone(runtime: Runtime, process: SandboxProcess): void {
    const list = this.stockOf(runtime).generic;
    const remove = (): boolean => {
      const at = list.indexOf(process);
      if (at !== -1) list.splice(at, 1);
      return at !== -1;
    };
    const onReady = async (): Promise<void> => {
      await process.exited;
      if (!remove() || this.stopping.aborted) return;
      this.logger.warn({ runtime }, 'a waiting sandbox ended by itself');
      this.refillSoon(runtime, refillRetryMs);
    };
    void process.ready.then(onReady, remove);
  }
}
