import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Runtime, RuntimeRefusal } from '@glovebox/sandbox';
import type { Logger } from '@glovebox/service-host';
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
const complaintLength = 1_000;

interface Parts {
  readonly config: RunnerConfig;
  readonly files: LaunchFiles;
  readonly level: IsolationLevel;
  readonly workDir: string;
  readonly logger: Logger;
}

/** The runtimes that code may run on here. One that is missing is fetched at its first use. */
export class OfferedRuntimes {
  private readonly fetches = new Map<Runtime, Promise<RuntimeRefusal | undefined>>();
  private readonly stopping = new AbortController();
  private waitingBytes = 0;

  constructor(private readonly parts: Parts) {}

  isInstalled(runtime: Runtime): boolean {
    return this.parts.files.runtimes[runtime] !== undefined;
  }

  /** Resolves when code can run on the runtime, or to the reason why it cannot. */
  async obtain(
    runtime: Runtime,
    orderBytes: number,
    signal: AbortSignal,
  ): Promise<RuntimeRefusal | undefined> {
    const { runtimeFetcher, offeredRuntimes } = this.parts.config;
    if (this.isInstalled(runtime)) return undefined;
    if (runtimeFetcher === undefined || !offeredRuntimes.includes(runtime)) return 'not_offered';
    const fetching = this.fetchOnce(runtime, runtimeFetcher);
    if (this.waitingBytes + orderBytes > waitingBytesMax) return 'fetching';
    this.waitingBytes += orderBytes;
    try {
      return await unlessLate(
        fetching,
        AbortSignal.any([signal, AbortSignal.timeout(fetchWaitMs)]),
      );
    } finally {
      this.waitingBytes -= orderBytes;
    }
  }

  /** Ends what is being fetched, and resolves when nothing of it is left. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.fetches.values());
  }

  private fetchOnce(runtime: Runtime, fetcher: string): Promise<RuntimeRefusal | undefined> {
    const known = this.fetches.get(runtime);
    if (known !== undefined) return known;
    const fetching = this.fetch(runtime, fetcher);
    this.fetches.set(runtime, fetching);
    return fetching;
  }

  private async fetch(runtime: Runtime, fetcher: string): Promise<RuntimeRefusal | undefined> {
    const { config, files, logger } = this.parts;
    const folder = join(config.runtimesDir, runtime);
    try {
      this.stopping.signal.throwIfAborted();
      logger.info({ runtime }, 'a runtime is being fetched');
      await install(folder, fetcher, this.stopping.signal);
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
function install(folder: string, fetcher: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fetcher, folder], {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let complaint = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaint = `${complaint}${chunk.toString()}`.slice(-complaintLength);
    });
    const end = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    };
    const timer = setTimeout(end, fetchLimitMs);
    signal.addEventListener('abort', end, { once: true });
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      if (code === 0) resolve();
      else reject(new Error(complaint.trim() || `the script ended with ${code ?? 'a signal'}`));
    });
  });
}

function unlessLate(
  fetching: Promise<RuntimeRefusal | undefined>,
  signal: AbortSignal,
): Promise<RuntimeRefusal | undefined> {
  return new Promise((resolve) => {
    const leave = (): void => resolve('fetching');
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    void fetching.then((refusal) => {
      signal.removeEventListener('abort', leave);
      resolve(refusal);
    });
  });
}
