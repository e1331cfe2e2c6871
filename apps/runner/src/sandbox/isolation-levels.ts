import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { FrameDecoder, runtimes, type JsonObject, type Runtime } from '@glovebox/sandbox';
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
}

const probeTimeoutMs = 10_000;

/** Finds the highest level at which every attempt to break out fails, in every runtime. */
export async function findLevel(setup: Setup, choice: LevelChoice): Promise<LevelFinding> {
  const candidates: IsolationLevel[] = choice === 'auto' ? [3, 2] : [choice === '3' ? 3 : 2];
  const rejected: Record<string, string> = {};
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
  return [`level ${level}`, ...why.reverse()].join(', ');
}

/** Returns the attempts that succeeded; undefined if the level holds. */
export async function probe(setup: Setup, level: IsolationLevel): Promise<string | undefined> {
  if (level === 3 && setup.files.bwrap === undefined) return 'bubblewrap is not installed';
  const folder = mkdtempSync(join(setup.workDir, 'probe-'));
  const listeners = [createServer(), createServer()] as const;
  try {
    const target = await prepareTarget(folder, listeners);
    for (const runtime of runtimes) {
      const fault = await probeRuntime(setup, level, runtime, target);
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
  return {
    runnerPid: process.pid,
    tcpPort: (tcp.address() as AddressInfo).port,
    socketFile,
    ownFile,
    writableFolder: '/tmp',
  };
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
