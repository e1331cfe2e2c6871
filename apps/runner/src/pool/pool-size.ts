import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { besidesDataMb } from '../process/memory';
import { unreadBytesMax } from '../process/sandbox-process';

const mebibyte = 1024 ** 2;
/** A generic sandbox waits for code. It takes about 15 MB, and somewhat more while it starts. */
const genericProcessMb = 32;
/**
 * The runner's own memory: 120 MB of Node.js, the orders of all runs, and frames that are being read
 * and written.
 */
const runnerBaseMb = 512;
/** The answers that one running sandbox leaves unread. The runner keeps them. */
const unreadMb = unreadBytesMax / mebibyte;
/** The share of a machine's memory, where no limit of a container is set. */
const machineShare = 3 / 4;
/** A small machine gives the pool this many running sandboxes nevertheless. */
const sandboxesLeast = 4;

export interface PoolMemory {
  readonly capMb: number;
  /**
   * Counted for a sandbox that may run, because it can grow to that at any moment. It is the same on
   * each runtime.
   */
  readonly sandboxMb: number;
  /** Counted for the generic sandboxes of all runtimes, whether or not they are in use. */
  readonly genericMb: number;
  /** The memory that the runner itself needs beside the pool. */
  readonly runnerMb: number;
}

/** `poolMb` 0: derived from the memory that this machine or container allows. */
export function poolMemoryOf(
  settings: { poolMb: number; sandboxMemoryMb: number; genericProcesses: number },
  machine = { machineMb: totalmem() / mebibyte, containerMb: containerLimitMb() },
): PoolMemory {
  const sandboxMb = settings.sandboxMemoryMb + besidesDataMb;
  const generic = settings.genericProcesses * genericProcessMb;
  const capMb = settings.poolMb > 0 ? settings.poolMb : derivedMb(sandboxMb, generic, machine);
  const leastMb = generic + sandboxMb;
  if (capMb < leastMb) {
    throw new Error(`must be at least ${leastMb}: one sandbox and the generic ones`);
  }
  const running = runningMax({ capMb, sandboxMb, genericMb: generic });
  const runnerMb = runnerBaseMb + running * unreadMb;
  return { capMb, sandboxMb, genericMb: generic, runnerMb };
}

/** The sandboxes that may run at the same time. */
export function runningMax({ capMb, sandboxMb, genericMb }: Omit<PoolMemory, 'runnerMb'>): number {
  return Math.floor((capMb - genericMb) / sandboxMb);
}

function derivedMb(
  sandboxMb: number,
  genericMb: number,
  { machineMb, containerMb }: { machineMb: number; containerMb: number },
): number {
  const leastMb = genericMb + sandboxesLeast * sandboxMb;
  if (containerMb >= machineMb) return Math.max(Math.floor(machineMb * machineShare), leastMb);
  const left = Math.floor(containerMb) - runnerBaseMb - genericMb;
  const running = Math.max(0, Math.floor(left / (sandboxMb + unreadMb)));
  // The rest is for idle sandboxes. It must not be enough for one more that runs.
  const idleMb = Math.min(left - running * (sandboxMb + unreadMb), sandboxMb - 1);
  return Math.max(genericMb + running * sandboxMb + idleMb, leastMb);
}

/** The limit of the control group of this process, in either version. Infinity: there is none. */
function containerLimitMb(): number {
  const limits = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'].map(
    (file) => {
      try {
        return Number(readFileSync(file, 'utf8').trim()) / mebibyte;
      } catch {
        return NaN;
      }
    },
  );
  return Math.min(Infinity, ...limits.filter((limit) => limit > 0));
}
