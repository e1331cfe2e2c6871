import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEgress } from '@glovebox/egress';
import { runtimes, type Runtime } from '@glovebox/sandbox';
import { createLogger, createRegistry, type Logger, type Registry } from '@glovebox/service-host';
import { observeShares, Shares } from '@glovebox/shares';
import type { RunnerConfig } from './config';
import type { WayOut } from './run/egress-connections';
import { launch, locateFiles, type IsolationLevel } from './process/launcher';
import { chooseLevel, type LevelFinding } from './process/isolation-levels';
import { Inspections } from './inspection/inspections';
import { createMetrics, type RunnerMetrics } from './metrics';
import { SandboxPool } from './pool/pool';
import { SandboxProcess } from './process/sandbox-process';
import { OfferedRuntimes } from './runtimes/offered-runtimes';

export interface RunnerContext {
  readonly config: RunnerConfig;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly metrics: RunnerMetrics;
  /** Of this process. */
  readonly id: string;
  /**
   * Starts one beside the pool, which nobody hands out or ends. `onInspected`: a debugger sees it, and
   * hears what it says.
   */
  startSandbox(runtime: Runtime, onInspected?: (message: Buffer) => void): SandboxProcess;
  readonly pool: SandboxPool;
  readonly runtimes: OfferedRuntimes;
  /** Undefined: no debugger is let in. */
  readonly inspections: Inspections | undefined;
  readonly level: IsolationLevel;
  /** The reason why a higher level does not hold here, by level. */
  readonly rejected: LevelFinding['rejected'];
  isReady(): boolean;
  /** Ends every sandbox and removes the runner's files. */
  stop(): Promise<void>;
}

interface RunnerParts {
  readonly logger?: Logger;
  readonly dial?: WayOut['dial'];
  readonly platform?: NodeJS.Platform;
}

export async function createContext(
  config: RunnerConfig,
  parts: RunnerParts = {},
): Promise<RunnerContext> {
  const logger = parts.logger ?? createLogger({ app: 'runner', level: config.logLevel });
  const registry = createRegistry('runner');
  const work = prepareWorkDir(config.workDir);
  try {
    const platform = parts.platform ?? process.platform;
    const files = locateFiles({ ...config, workDir: work.path, platform });
    const installed = runtimes.filter((runtime) => files.runtimes[runtime] !== undefined);
    const firstRuntime = requireRuntimes(config, installed);
    const limits = config.launchLimits;
    const setup = { files, limits, workDir: work.path, platform };
    const { level, rejected } = await chooseLevel(setup, config, logger);

    const lookups = new Shares({ places: config.lookupsMax });
    const egress = createEgress(config.egress, { lookups });
    const wayOut: WayOut = {
      // Bare connections: the code in the sandbox speaks every protocol on them, TLS included.
      dial: parts.dial ?? ((target) => egress.dial({ ...target, tls: false })),
      lookUp: (target) => egress.lookUp(target),
      note: (record) => logger.info(record, 'connections of code'),
    };
    let cannotStepBack = false;
    const onCannotStepBack = (): void => {
      if (cannotStepBack) return;
      cannotStepBack = true;
      logger.warn(
        {},
        'this runner lacks CAP_SYS_NICE: busy sandboxes run with the priority of the product',
      );
    };
    const startSandbox: RunnerContext['startSandbox'] = (runtime, onInspected) => {
      const isInspected = onInspected !== undefined;
      const how = { files, level, limits, runtime, script: 'bootstrap', isInspected } as const;
      return new SandboxProcess(launch(how), {
        wayOut,
        memory: { runtime, megabytes: limits.memoryMb },
        modules: { errors: config.offered.errors, bundles: files.bundles },
        ...{ onCannotStepBack, onInspected },
      });
    };
    const poolLimits = { ...config.poolLimits, firstRuntime };
    const pool = new SandboxPool((runtime) => startSandbox(runtime), poolLimits, logger);
    observeShares(registry, { lookups, ...pool.shares });
    const { memory } = config.poolLimits;
    logger.info(memory, `all sandboxes together have ${memory.capMb} MB of memory`);
    await pool.warmUp().catch(async (error: unknown) => {
      await pool.stop();
      throw error;
    });
    const inspections =
      config.inspectPort === undefined ? undefined : new Inspections(startSandbox, egress);
    const offered = new OfferedRuntimes({ config, files, level, workDir: work.path, logger });
    let isStopping = false;
    return {
      config,
      logger,
      registry,
      metrics: createMetrics(registry, pool, level),
      id: randomUUID(),
      startSandbox,
      pool,
      runtimes: offered,
      inspections,
      level,
      rejected,
      isReady: () => !isStopping && pool.isWorking,
      async stop() {
        isStopping = true;
        await Promise.all([offered.stop(), pool.stop(), inspections?.close()]);
        work.remove();
      },
    };
  } catch (error) {
    work.remove();
    throw error;
  }
}

/** One must be there, and where nothing is fetched all that the operator named. Returns the first. */
function requireRuntimes(config: RunnerConfig, installed: readonly Runtime[]): Runtime {
  const { offeredRuntimes, requiresRuntimes, runtimeFetcher, runtimesDir } = config;
  const [first] = installed;
  const missing = offeredRuntimes.find((runtime) => !installed.includes(runtime));
  const mayMiss = !requiresRuntimes || runtimeFetcher !== undefined;
  if (first !== undefined && (missing === undefined || mayMiss)) return first;
  const folder = join(runtimesDir, String(missing));
  throw new Error(`${missing} is not installed: run npm ci --ignore-scripts --prefix ${folder}`);
}

function prepareWorkDir(configured: string | undefined): { path: string; remove(): void } {
  if (configured !== undefined) {
    mkdirSync(configured, { recursive: true, mode: 0o755 });
    return { path: configured, remove: () => undefined };
  }
  const path = mkdtempSync(join(tmpdir(), 'glovebox-runner-'));
  chmodSync(path, 0o755);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
