import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { runtimes, type Runtime } from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import { aLineAMinute } from '../a-line-a-minute';
import { memoryOf } from './process-memory';
import type { SandboxProcess } from './sandbox-process';

export interface StockLimits {
  /** Processes with a customer's code. As many may wait to be started. */
  readonly processesMax: number;
  /**
   * Processes that start at the same time, shared between tenants and the stock of generic ones.
   */
  readonly startsMax: number;
  /** Generic processes kept ready, of each runtime. */
  readonly warmPerRuntime: number;
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
const stock = 'stock';

/** Starts processes, few at once, and keeps some generic ones of each runtime ready. */
export class SandboxStock {
  /** A start keeps a processor busy for some tenths of a second, so few start at once. */
  private readonly starts: Shares;
  private readonly generic: Record<Runtime, SandboxProcess[]> = { node16: [], node20: [] };
  /** Generic processes that wait for their turn to be started. */
  private readonly ordered: Record<Runtime, number> = { node16: 0, node20: 0 };
  private readonly alive = new Set<SandboxProcess>();
  /** Processes that were ended before they were ready, because there were enough. */
  private readonly surplus = new WeakSet<SandboxProcess>();
  /** Starts that failed since one succeeded. */
  private readonly failures: Record<Runtime, number> = { node16: 0, node20: 0 };
  /** Runtimes whose sandboxes do not start any more. Only `recover` starts one of them. */
  private readonly failing = new Set<Runtime>();
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

  /**
   * Resolves when one process of each runtime is ready, which proves that runs are possible here.
   */
  async warmUp(): Promise<void> {
    await Promise.all(runtimes.map((runtime) => this.stockUp(runtime)));
    this.refillAll();
  }

  /** False while sandboxes of a runtime cannot be started. */
  get isWorking(): boolean {
    return this.failing.size === 0;
  }

  get size(): number {
    return Object.values(this.generic).reduce((sum, list) => sum + list.length, 0);
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
      const list = this.generic[runtime];
      let process = list.shift();
      while (process?.isDead) process = list.shift();
      if (process === undefined && this.failing.has(runtime)) {
        throw new Error('no sandbox can be started at present');
      }
      process ??= this.start(runtime);
      setTimeout(() => this.refill(runtime), refillDelayMs).unref();
      await this.readyInTime(process);
      return process;
    } finally {
      endStart();
    }
  }

  /**
   * Takes back a process that never held code. The next run may use it. Resolves when no more of
   * them exist than are kept.
   */
  async giveBack(runtime: Runtime, process: SandboxProcess): Promise<void> {
    const list = this.generic[runtime];
    list.unshift(process);
    this.refillWhenGone(runtime, process);
    if (list.length <= this.limits.warmPerRuntime) return;
    const surplus = list.pop();
    if (surplus === undefined) return;
    this.surplus.add(surplus);
    surplus.kill('one too many');
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
      () => (this.failures[runtime] = 0),
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
    this.failures[runtime] += 1;
    if (this.failures[runtime] < failedStartsMax) return;
    this.failing.add(runtime);
    this.recovering ??= this.recover();
  }

  /** Tries one start at a time, more and more seldom, until a sandbox of each runtime is ready. */
  private async recover(): Promise<void> {
    for (
      let waitMs = startAgainFirstMs;
      this.failing.size > 0;
      waitMs = Math.min(2 * waitMs, startAgainLastMs)
    ) {
      await delay(waitMs, undefined, { signal: this.stopping, ref: false }).catch(() => undefined);
      if (this.stopping.aborted) return;
      for (const runtime of this.failing) {
        const stocked = this.stockUp(runtime).then(() => this.failing.delete(runtime));
        await stocked.catch(() => undefined);
      }
    }
    this.recovering = undefined;
    this.refillAll();
  }

  private refillAll(): void {
    for (const runtime of runtimes) this.refill(runtime);
  }

  private refill(runtime: Runtime): void {
    const { warmPerRuntime } = this.limits;
    if (this.failing.has(runtime)) return;
    while (this.generic[runtime].length + this.ordered[runtime] < warmPerRuntime) {
      void this.stockUp(runtime).catch(() => this.refillLater(runtime));
    }
  }

  private refillLater(runtime: Runtime): void {
    if (this.stopping.aborted) return;
    setTimeout(() => this.refill(runtime), refillRetryMs).unref();
  }

  /** Starts one more generic process, and resolves when it is ready. */
  private async stockUp(runtime: Runtime): Promise<void> {
    this.ordered[runtime] += 1;
    const turn = this.starts.take(stock, { signal: this.stopping });
    const endStart = await turn.finally(() => (this.ordered[runtime] -= 1));
    try {
      // One that came back in the meantime is enough.
      if (this.generic[runtime].length >= this.limits.warmPerRuntime) return;
      const process = this.start(runtime);
      this.generic[runtime].push(process);
      this.refillWhenGone(runtime, process);
      await this.readyInTime(process);
    } finally {
      endStart();
    }
  }

  private async readyInTime(process: SandboxProcess): Promise<void> {
    const timer = setTimeout(() => process.kill('did not start'), readyLimitMs);
    await process.ready.finally(() => clearTimeout(timer));
  }

  private refillWhenGone(runtime: Runtime, process: SandboxProcess): void {
    const list = this.generic[runtime];
    const remove = (): boolean => {
      const at = list.indexOf(process);
      if (at !== -1) list.splice(at, 1);
      return at !== -1;
    };
    const onReady = async (): Promise<void> => {
      await process.exited;
      if (!remove() || this.stopping.aborted) return;
      this.logger.warn({ runtime }, 'a waiting sandbox ended by itself');
      this.refillLater(runtime);
    };
    void process.ready.then(onReady, remove);
  }
}
