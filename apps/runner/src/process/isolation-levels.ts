import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import type { Logger } from '@glovebox/service-host';
import { FrameDecoder, type JsonObject, type Runtime } from '@glovebox/sandbox';
import {
  channelOf,
  launch,
  type IsolationLevel,
  type LaunchFiles,
  type LaunchLimits,
} from './launcher';

export type LevelChoice = 'auto' | '2' | '3';

export interface LevelFinding {
  readonly level: IsolationLevel;
  /** The reason why a tried level does not hold, by level. */
  readonly rejected: Readonly<Record<string, string>>;
}

interface Setup {
  readonly files: LaunchFiles;
  readonly limits: LaunchLimits;
  readonly workDir: string;
  readonly platform?: NodeJS.Platform;
}

const probeTimeoutMs = 10_000;

/** Finds the level to run at. Where none holds, only an operator who accepts that may go on. */
export async function chooseLevel(
  setup: Setup,
  options: { readonly level: LevelChoice; readonly allowWeak: boolean },
  logger: Logger,
): Promise<LevelFinding> {
  const found = await findLevel(setup, options.level);
  const described = describeLevel(found);
  if (found.level > 0) logger.info(found, `sandboxes run at ${described}`);
  else if (!options.allowWeak) {
    throw new Error(
      `no isolation holds on this machine (${described}). Run this on Linux 5.13 or newer with ` +
        'Landlock and seccomp. To try things out with code that you trust, set SANDBOX_ALLOW_WEAK=true',
    );
  } else {
    logger.warn(
      found,
      `SANDBOX_ALLOW_WEAK: CUSTOMER CODE IS NOT CONTAINED. It can read the memory and the files of this product (${described})`,
    );
  }
  return found;
}

/** Finds the highest level at which every attempt to break out fails, in every runtime. */
export async function findLevel(setup: Setup, choice: LevelChoice): Promise<LevelFinding> {
  const platform = setup.platform ?? process.platform;
  if (platform !== 'linux') {
    return { level: 0, rejected: { 2: `Landlock and seccomp are of Linux, this is ${platform}` } };
  }
  const rejected: Record<string, string> = choice === '2' ? { 3: 'SANDBOX_LEVEL is 2' } : {};
  const candidates: IsolationLevel[] = choice === 'auto' ? [3, 2] : [choice === '3' ? 3 : 2];
  for (const level of candidates) {
    const faults = await probe(setup, level);
    if (faults === undefined) return { level, rejected };
    rejected[level] = faults;
  }
  return { level: 0, rejected };
}

/** Describes a finding: `level 2, not 3: bubblewrap is not installed`. */
export function describeLevel({ level, rejected }: LevelFinding): string {
  const why = Object.entries(rejected).map(([higher, reason]) => `not ${higher}: ${reason}`);
  const name = level === 0 ? 'level 0 (weak: code is not contained)' : `level ${level}`;
  return [name, ...why.reverse()].join(', ');
}

/** Returns the attempts that succeeded; undefined if the level holds. */
export async function probe(
  setup: Setup,
  level: IsolationLevel,
  runtimes = Object.keys(setup.files.runtimes) as Runtime[],
): Promise<string | undefined> {
  if (level === 3 && setup.files.bwrap === undefined) return 'bubblewrap is not installed';
  const folder = mkdtempSync(join(setup.workDir, 'probe-'));
  const listeners = [createServer(), createServer()] as const;
  try {
    const target = await prepareTarget(folder, listeners);
    for (const runtime of runtimes) {
      const script = ownCopy(setup.files.probe, join(folder, `probe-${runtime}.js`));
      const files = { ...setup.files, probe: script };
      const fault = await probeRuntime({ ...setup, files }, level, runtime, target);
      if (fault !== undefined) return `${runtime}: ${fault}`;
    }
    return undefined;
  } finally {
    for (const listener of listeners) listener.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Everything that must be out of reach really exists, protected by the sandbox alone. */
async function prepareTarget(folder: string, [tcp, unix]: readonly [Server, Server]) {
  chmodSync(folder, 0o755);
  const socketFile = join(folder, 'listener');
  tcp.listen(0, '127.0.0.1');
  unix.listen({ path: socketFile, readableAll: true, writableAll: true });
  await Promise.all([once(tcp, 'listening'), once(unix, 'listening')]);
  const ownFile = join(folder, 'own');
  writeFileSync(ownFile, 'own');
  chmodSync(ownFile, 0o666);
  return {
    runnerPid: process.pid,
    tcpPort: (tcp.address() as AddressInfo).port,
    socketFile,
    ownFile,
    writableFolder: '/tmp',
  };
}

/** The probe tries to truncate the file that it is, which permissions leave open to it. */
function ownCopy(file: string, copy: string): string {
  copyFileSync(file, copy);
  chmodSync(copy, 0o666);
  return copy;
}

async function probeRuntime(
  setup: Setup,
  level: IsolationLevel,
  runtime: Runtime,
  target: object,
): Promise<string | undefined> {
  const child = launch({
    ...setup,
    level,
    runtime,
    script: 'probe',
    scriptArguments: [JSON.stringify(target)],
    stderr: 'pipe',
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), probeTimeoutMs);
  let answer: JsonObject | undefined;
  let complaint = '';
  const decoder = new FrameDecoder((frame) => {
    if (frame.type !== 'DATA') answer = frame.head;
  });
  channelOf(child).on('data', (chunk: Buffer) => decoder.push(chunk));
  channelOf(child).on('error', () => undefined);
  child.stderr?.on('data', (chunk: Buffer) => (complaint += chunk.toString().slice(0, 500)));
  try {
    await once(child, 'close');
  } catch {
    return 'could not be started';
  } finally {
    clearTimeout(timer);
  }
  const succeeded = answer?.['succeeded'];
  if (!Array.isArray(succeeded)) return complaint.split('\n')[0] || 'the probe did not answer';
  return succeeded.length === 0 ? undefined : `could ${succeeded.join(', ')}`;
}
