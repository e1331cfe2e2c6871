import { readFileSync } from 'node:fs';

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
