import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Cancellation, RunOrder, Runtime, RuntimeRefusal } from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
import { Shares } from '@glovebox/shares';
import type { RunnerConfig } from '../config';
import { probe } from '../process/isolation-levels';
import { locateRuntime, type IsolationLevel, type LaunchFiles } from '../process/launcher';

/** A run waits so long for its runtime. Its client gives it up 15 s after its own time-out. */
const fetchWaitMs = 8_000;
const fetchLimitMs = 300_000;
/** The time from a fetch that failed to the next one. */
const fetchAgainMs = 30_000;
/** Bytes of the orders of all runs that wait for a runtime. */
const waitingBytesMax = 64 * 1024 * 1024;
/** Counted for an order besides its arguments. */
const orderBaseBytes = 1_024;
const complaintLength = 1_000;
/** A script that does not end when it is asked to is killed after this. */
const endLimitMs = 5_000;

interface Parts {
  readonly config: RunnerConfig;
  readonly files: LaunchFiles;
  readonly level: IsolationLevel;
  readonly workDir: string;
  readonly logger: Logger;
}

interface Fetch {
  readonly done: Promise<void>;
  /** The runs that wait. One that waits no more is not kept: a fetch may take minutes. */
  readonly waiting: Set<(refusal: RuntimeRefusal | undefined) => void>;
  /** It failed, and is not repeated yet. */
  hasFailed: boolean;
}

/** The runtimes that code may run on here. One that is missing is fetched at its first use. */
export class OfferedRuntimes {
  /** Shared out between tenants: one with many runs keeps no other from waiting. */
  private readonly waitingBytes = new Shares({ places: waitingBytesMax });
  private readonly fetches = new Map<Runtime, Fetch>();
  private readonly stopping = new AbortController();

  constructor(private readonly parts: Parts) {}

  isInstalled(runtime: Runtime): boolean {
    return this.parts.files.runtimes[runtime] !== undefined;
  }

  /** Resolves when code can run on the runtime, or to the reason why it cannot. */
  async obtain(
    { runtime, tenantId, input }: Pick<RunOrder, 'runtime' | 'tenantId' | 'input'>,
    signal: Cancellation,
  ): Promise<RuntimeRefusal | undefined> {
    const { runtimeFetcher, offeredRuntimes } = this.parts.config;
    if (this.isInstalled(runtime)) return undefined;
    if (runtimeFetcher === undefined || !offeredRuntimes.includes(runtime)) return 'not_offered';
    const fetch = this.fetchOnce(runtime, runtimeFetcher);
    if (fetch.hasFailed) return 'not_fetched';
    const bytes = input.length + orderBaseBytes;
    if (!this.waitingBytes.hasRoom(tenantId, bytes)) return 'fetching';
    const release = this.waitingBytes.takeNow(tenantId, bytes);
    try {
      return await waitFor(fetch, signal);
    } finally {
      release();
    }
  }

  /** Ends what is being fetched, and resolves when nothing of it is left. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.fetches.values()].map(({ done }) => done));
  }

  private fetchOnce(runtime: Runtime, fetcher: string): Fetch {
    const known = this.fetches.get(runtime);
    if (known !== undefined) return known;
    const waiting: Fetch['waiting'] = new Set();
    const done = this.fetch(runtime, fetcher).then((refusal) => {
      fetch.hasFailed = refusal !== undefined;
      for (const settle of waiting) settle(refusal);
    });
    const fetch: Fetch = { done, waiting, hasFailed: false };
    this.fetches.set(runtime, fetch);
    return fetch;
  }

  private async fetch(runtime: Runtime, fetcher: string): Promise<RuntimeRefusal | undefined> {
    const { config, files, logger } = this.parts;
    const folder = join(config.runtimesDir, runtime);
    try {
      this.stopping.signal.throwIfAborted();
      logger.info({ runtime }, 'a runtime is being fetched');
      await install([fetcher, folder], config.fetcherEnv, this.stopping.signal);
      const found = locateRuntime(runtime, { ...config, workDir: this.parts.workDir });
      if (found === undefined) throw new Error(`it is not in ${folder} afterwards`);
      const added = { ...files, runtimes: { [runtime]: found } };
      await this.requireIsolation(added, runtime);
      files.runtimes[runtime] = found;
      logger.info({ runtime }, 'a runtime was fetched');
      return undefined;
    } catch (error) {
      if (this.stopping.signal.aborted) return 'not_fetched';
      logger.error(
        { runtime, reason: error instanceof Error ? error.message : 'unknown' },
        `a runtime could not be fetched. To fetch it by hand: node ${fetcher} ${folder}`,
      );
      setTimeout(() => this.fetches.delete(runtime), fetchAgainMs).unref();
      return 'not_fetched';
    }
  }

  /** The level was found by trying with the runtimes that were there at the start. */
  private async requireIsolation(files: LaunchFiles, runtime: Runtime): Promise<void> {
    const { config, level, workDir } = this.parts;
    if (level === 0) return;
    const faults = await probe({ files, limits: config.launchLimits, workDir }, level, [runtime]);
    if (faults !== undefined) throw new Error(`level ${level} does not hold: ${faults}`);
  }
}

/** Runs the script in a process group, so that what it has started ends with it. */
function install(
  script: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, script, {
      env,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let complaint = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaint = `${complaint}${chunk.toString()}`.slice(-complaintLength);
    });
    let killTimer: NodeJS.Timeout | undefined;
    const end = (): void => {
      signalGroup(child.pid, 'SIGTERM');
      killTimer ??= setTimeout(() => signalGroup(child.pid, 'SIGKILL'), endLimitMs);
    };
    const timer = setTimeout(end, fetchLimitMs);
    signal.addEventListener('abort', end, { once: true });
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      clearTimeout(killTimer);
      signal.removeEventListener('abort', end);
      if (code === 0) resolve();
      else reject(new Error(complaint.trim() || `the script ended with ${code ?? 'a signal'}`));
    });
  });
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended just now.
  }
}

function waitFor({ waiting }: Fetch, signal: Cancellation): Promise<RuntimeRefusal | undefined> {
  return new Promise((resolve) => {
    const settle = (refusal: RuntimeRefusal | undefined): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      waiting.delete(settle);
      resolve(refusal);
    };
    const leave = (): void => settle('fetching');
    const timer = setTimeout(leave, fetchWaitMs);
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave);
    waiting.add(settle);
  });
}
