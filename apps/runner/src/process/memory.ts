import { readFileSync } from 'node:fs';
import type { Runtime } from '@glovebox/sandbox';

/**
 * Address space that Node.js reserves at its start, writable and private, and then does not use:
 * V8 of Node.js 24 keeps room for two tables there. RLIMIT_DATA counts it, so a sandbox needs it on
 * top of its memory. It takes no memory of the machine: of 562 MB that Node.js 24 has at rest, 8 are
 * there, as with 47 MB on the others. Where the limit leaves this out, Node.js 24 does not start.
 */
const reservedMb: Readonly<Record<Runtime, number>> = {
  node16: 0,
  node20: 0,
  node22: 0,
  node24: 512,
};

/**
 * The memory that a running sandbox may take beyond its limit. RLIMIT_DATA counts neither tables of
 * pages nor stacks in the kernel, buffers of the channel, or code that V8 has compiled and locked.
 * Programs that tried to take all they can stayed below the limit itself: a limit of 384 MB let
 * them have 349 MB on each runtime.
 */
export const besidesDataMb = 32;

/** The RLIMIT_DATA of a sandbox that has this much memory. Each thread with code reserves its own. */
export const dataLimitMb = (runtime: Runtime, memoryMb: number, threads = 1): number =>
  memoryMb + threads * reservedMb[runtime];

interface ProcessMemory {
  /** Bytes that no other process uses, with the tables that map them. */
  readonly privateBytes: number;
  /** True after SIGSTOP has taken effect. */
  readonly isStopped: boolean;
}

/**
 * Reads the memory of a process. Undefined if the process is gone. The file is preferred to `statm`
 * because it counts in kilobytes, whatever the page size is, and tells the state as well.
 */
export function memoryOf(pid: number): ProcessMemory | undefined {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return undefined;
  }
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  const shown = kilobytes('RssAnon') + kilobytes('RssShmem') + kilobytes('VmPTE');
  return { privateBytes: shown * 1024, isStopped: /^State:\s*T/m.test(status) };
}
