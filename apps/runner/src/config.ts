import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { egressPolicyOf, type EgressPolicy } from '@glovebox/egress';
import {
  offeredNames,
  parseRunnerAddress,
  parseRunnerSecret,
  runtimes,
  type OfferedNames,
  type RunnerAddress,
  type Runtime,
} from '@glovebox/sandbox';
import {
  ConfigError,
  egressSettings,
  flag,
  foundSettings,
  integer,
  list,
  loadConfig,
  optionalText,
  moduleSettings,
  processSettings,
  requiredSecret,
  requiredText,
  text,
  Secret,
} from '@glovebox/service-host';
import type { LevelChoice } from './process/isolation-levels';
import type { LaunchLimits } from './process/launcher';
import type { PoolLimits } from './pool/pool';
import { poolMemoryOf } from './pool/pool-size';

export const settings = {
  ...processSettings(9083),
  ...foundSettings,
  HOST: text(
    'the address that health and metrics are served on; the images set 0.0.0.0',
    '127.0.0.1',
  ),
  RUNNER_LISTEN: requiredText(
    'where gateways and workers come in: unix:/path, or tcp://host:port for TLS',
  ),
  RUNNER_SECRET: requiredSecret(
    'what gateways and workers must know to get in: a secret, or two with a comma between them while it is exchanged',
  ),
  RUNNER_WORK_DIR: optionalText(
    'a folder for copies; by default a new one, removed at the end. A runner that is root copies the programs of the sandbox there, if others cannot reach them',
  ),
  RUNNER_RUNTIMES: list(
    `the Node.js versions that code may run on, of ${runtimes.join(', ')}; by default all that are installed, and all that can be fetched`,
    [],
  ),
  RUNNER_RUNTIMES_DIR: text('where the Node.js runtimes are installed', 'apps/runner/runtimes'),
  RUNNER_RUNTIME_FETCHER: optionalText(
    'a script that installs a runtime into its folder, at the first use of the runtime. By default nothing is fetched',
  ),
  RUNNER_NATIVE_DIR: text('where sandbox-exec is', 'apps/runner/native/prebuilt'),
  RUNNER_PACKAGES_DIR: optionalText(
    'a folder with a file of each package of REACTOR_PACKAGES: NAME.js, with __ for each slash of the name. A file here replaces the shipped package of its name',
  ),
  BWRAP: optionalText('the bubblewrap binary; by default the one on PATH'),
  PATH: text('where bubblewrap is looked for', ''),
  SANDBOX_LEVEL: text(
    'auto, 2 or 3: the isolation that must hold; auto takes the higher one that does',
    'auto',
  ),
  SANDBOX_ALLOW_WEAK: flag(
    'start although no isolation holds, to try things out: customer code is then not contained',
    false,
  ),
  SANDBOX_INSPECT: flag(
    'let debuggers of this machine into dry runs that ask for it, to develop code; never where others work',
    false,
  ),
  SANDBOX_INSPECT_PORT: integer(
    'the port of 127.0.0.1 that glovebox dev --inspect comes in by. 0: any that is free',
    9230,
    { min: 0, max: 65_535 },
  ),
  SANDBOX_POOL_MB: integer(
    'megabytes of memory of all sandboxes. 0: most of what the container may have, or else three quarters of the machine',
    0,
    { min: 0, max: 16_777_216 },
  ),
  SANDBOX_MEMORY_MB: integer('megabytes of memory of one sandbox', 384, { min: 192, max: 4096 }),
  SANDBOX_THREADS: integer(
    'threads of one sandbox. A runner that is not root has one limit for all: this × (SANDBOX_PROCESSES + 16)',
    64,
    { min: 32, max: 4_096 },
  ),
  SANDBOX_UID_FIRST: integer(
    'where the runner is root: the first of 10,000,000 user and group ids that nothing else uses; each sandbox gets its own',
    800_000_000,
    { min: 1_000, max: 990_000_000 },
  ),
  SANDBOX_PROCESSES: integer(
    'sandboxes in all; a tenant holds at most half of what the others leave',
    64,
    { min: 1, max: 10_000 },
  ),
  SANDBOX_PROCESSES_PER_KEY: integer('sandboxes of one reactor', 8, { min: 1, max: 1_000 }),
  SANDBOX_STARTS: integer(
    'sandboxes that are being started at once, shared out between tenants; two for each processor are enough',
    4,
    { min: 2, max: 1_000 },
  ),
  SANDBOX_WARM: integer(
    'generic sandboxes kept ready, for each Node.js version that is in use',
    1,
    {
      min: 1,
      max: 100,
    },
  ),
  SANDBOX_IDLE_TTL_MS: integer(
    'how long a sandbox stays unused, and a Node.js version without runs is kept ready',
    300_000,
    {
      min: 1_000,
      max: 86_400_000,
    },
  ),
  SANDBOX_QUEUE_WAIT_MS: integer(
    'how long a run waits for a sandbox before it gets no_capacity',
    1_000,
    {
      min: 1,
      max: 60_000,
    },
  ),
  SANDBOX_QUEUE_LENGTH: integer(
    'runs that wait, in all; a tenant has at most half of what the others leave',
    2_048,
    { min: 1, max: 100_000 },
  ),
  SANDBOX_RUNS_MAX: integer('runs of one sandbox before it is replaced', 10_000, {
    min: 1,
    max: 1_000_000_000,
  }),
  SANDBOX_AGE_MS: integer('how old a sandbox gets before it is replaced', 3_600_000, {
    min: 1_000,
    max: 604_800_000,
  }),
  SANDBOX_GROW_AFTER_MS: integer('how long runs wait before one more sandbox is started', 20, {
    min: 1,
    max: 60_000,
  }),
  ...moduleSettings,
  ...egressSettings,
};

export interface RunnerConfig {
  readonly logLevel: string;
  readonly host: string;
  readonly opsPort: number;
  readonly stopDelayMs: number;
  readonly listen: RunnerAddress;
  readonly secrets: readonly Secret[];
  readonly workDir: string | undefined;
  readonly runtimesDir: string;
  readonly runtimeFetcher: string | undefined;
  /** The variables that npm needs. The script and npm get no others: no secret is among them. */
  readonly fetcherEnv: Readonly<Record<string, string>>;
  readonly offeredRuntimes: readonly Runtime[];
  /** The operator named them, so that each must be there. */
  readonly requiresRuntimes: boolean;
  readonly nativeDir: string;
  readonly scriptsDir: string;
  readonly bwrap: string | undefined;
  readonly level: LevelChoice;
  readonly allowWeak: boolean;
  /** Undefined: no debugger is let in. */
  readonly inspectPort: number | undefined;
  readonly launchLimits: LaunchLimits;
  readonly poolLimits: PoolLimits;
  readonly offered: OfferedNames;
  readonly packageFolders: readonly string[];
  readonly egress: EgressPolicy;
  readonly lookupsMax: number;
}

/** `scriptsDir`: the folder of the built programs that run inside a sandbox. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  scriptsDir: string,
): RunnerConfig {
  const values = loadConfig(env, settings);
  const listen = parsed('RUNNER_LISTEN', () => parseRunnerAddress(values.RUNNER_LISTEN));
  const secrets = parsed('RUNNER_SECRET', () =>
    parseRunnerSecret(values.RUNNER_SECRET.reveal(), [listen]).map((secret) => new Secret(secret)),
  );
  const offeredRuntimes = parsed('RUNNER_RUNTIMES', () => parseRuntimes(values.RUNNER_RUNTIMES));
  const ownPorts = 'path' in listen ? [values.OPS_PORT] : [values.OPS_PORT, listen.port];
  return {
    logLevel: values.LOG_LEVEL,
    host: values.HOST,
    opsPort: values.OPS_PORT,
    stopDelayMs: values.STOP_DELAY_MS,
    listen,
    secrets,
    workDir: values.RUNNER_WORK_DIR,
    runtimesDir: values.RUNNER_RUNTIMES_DIR,
    runtimeFetcher: values.RUNNER_RUNTIME_FETCHER,
    fetcherEnv: fetcherEnvOf(env),
    offeredRuntimes,
    requiresRuntimes: values.RUNNER_RUNTIMES.length > 0,
    nativeDir: values.RUNNER_NATIVE_DIR,
    scriptsDir,
    bwrap: values.BWRAP ?? findOnPath('bwrap', values.PATH),
    level: parsed('SANDBOX_LEVEL', () => parseLevel(values.SANDBOX_LEVEL)),
    allowWeak: values.SANDBOX_ALLOW_WEAK,
    inspectPort: values.SANDBOX_INSPECT ? values.SANDBOX_INSPECT_PORT : undefined,
    launchLimits: {
      memoryMb: values.SANDBOX_MEMORY_MB,
      openFilesMax: 64,
      threadsMax: threadsOfOneUid(values.SANDBOX_THREADS, values.SANDBOX_PROCESSES),
      uidFirst: values.SANDBOX_UID_FIRST,
    },
    poolLimits: {
      processesMax: values.SANDBOX_PROCESSES,
      processesPerKeyMax: values.SANDBOX_PROCESSES_PER_KEY,
      startsMax: values.SANDBOX_STARTS,
      warmPerRuntime: values.SANDBOX_WARM,
      firstRuntime: offeredRuntimes[0] ?? 'node16',
      idleTtlMs: values.SANDBOX_IDLE_TTL_MS,
      queueWaitMs: values.SANDBOX_QUEUE_WAIT_MS,
      queueLengthMax: values.SANDBOX_QUEUE_LENGTH,
      growAfterMs: values.SANDBOX_GROW_AFTER_MS,
      runsMax: values.SANDBOX_RUNS_MAX,
      ageMaxMs: values.SANDBOX_AGE_MS,
      restingBytesMax: (values.SANDBOX_MEMORY_MB / 2) * 1024 ** 2,
      memory: parsed('SANDBOX_POOL_MB', () =>
        poolMemoryOf({
          poolMb: values.SANDBOX_POOL_MB,
          sandboxMemoryMb: values.SANDBOX_MEMORY_MB,
          genericProcesses: values.SANDBOX_WARM * offeredRuntimes.length,
        }),
      ),
    },
    offered: offeredNames(values),
    packageFolders: [
      ...(values.RUNNER_PACKAGES_DIR === undefined ? [] : [values.RUNNER_PACKAGES_DIR]),
      join(scriptsDir, 'packages'),
    ],
    lookupsMax: values.EGRESS_LOOKUPS_MAX,
    egress: parsed('EGRESS_*', () =>
      egressPolicyOf(
        values,
        ownPorts.filter((own) => own > 0).map((own) => `127.0.0.1:${own}`),
      ),
    ),
  };
}

const fetcherInherits =
  /^(PATH|HOME|TMPDIR|LANG|TZ|npm_config_\w+|npm_execpath|(HTTPS?|NO|ALL)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+)$/i;

function fetcherEnvOf(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && fetcherInherits.test(name) ? [[name, value]] : [],
    ),
  );
}

/** Allows for generic sandboxes and the runner's own threads, because the kernel counts by uid. */
const sandboxesBesides = 16;

function threadsOfOneUid(threads: number, processes: number): number {
  return process.getuid?.() === 0 ? threads : threads * (processes + sandboxesBesides);
}

function parseRuntimes(names: readonly string[]): readonly Runtime[] {
  const known: readonly string[] = runtimes;
  const wrong = names.find((name) => !known.includes(name));
  if (wrong !== undefined) throw new Error(`names ${wrong}, which is none of ${known.join(', ')}`);
  return names.length === 0 ? runtimes : runtimes.filter((runtime) => names.includes(runtime));
}

function parseLevel(value: string): LevelChoice {
  if (value !== 'auto' && value !== '2' && value !== '3') throw new Error('must be auto, 2 or 3');
  return value;
}

function parsed<Value>(name: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw new ConfigError([`${name} ${error instanceof Error ? error.message : 'is wrong'}`]);
  }
}

function findOnPath(binary: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, binary))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
