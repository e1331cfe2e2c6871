import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

export interface SearchedProcess {
  readonly program: string;
  /** The texts that stand in its memory, its arguments or its environment. */
  readonly found: readonly string[];
}

/** Looks for texts in all that a process and its descendants hold at this moment. */
export function searchProcesses(root: number, texts: readonly string[]): SearchedProcess[] {
  return familyOf(root).map((pid) => ({
    program: readFileSync(`/proc/${pid}/comm`, 'utf8').trim(),
    found: texts.filter(foundIn(pid, texts)),
  }));
}

function foundIn(pid: number, texts: readonly string[]): (text: string) => boolean {
  const found = new Set<string>();
  const look = (bytes: Buffer): void => {
    for (const text of texts) if (bytes.includes(text)) found.add(text);
  };
  for (const name of ['cmdline', 'environ']) look(readFileSync(`/proc/${pid}/${name}`));
  for (const part of memoryOf(pid)) look(part);
  return (text) => found.has(text);
}

const partBytes = 4 * 1024 * 1024;
/** More than any text that is looked for: it may lie across two parts. */
const overlapBytes = 4096;

function* memoryOf(pid: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from = '', to = ''] = /^([\da-f]+)-([\da-f]+) rw/.exec(line) ?? [];
      const end = Number.parseInt(to, 16);
      for (let at = Number.parseInt(from, 16); at < end; at += partBytes) {
        const part = Buffer.alloc(Math.min(partBytes + overlapBytes, end - at));
        yield part.subarray(0, read(memory, part, at));
      }
    }
  } finally {
    closeSync(memory);
  }
}

/** Pages may be gone since they were listed. */
function read(memory: number, into: Buffer, at: number): number {
  try {
    return readSync(memory, into, 0, into.length, at);
  } catch {
    return 0;
  }
}

function familyOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(name) : undefined;
    if (parent !== undefined) parents.set(Number(name), parent);
  }
  const family = [root];
  for (const pid of family) {
    for (const [child, parent] of parents) if (parent === pid) family.push(child);
  }
  return family;
}

function parentOf(pid: string): number | undefined {
  try {
    // Behind the name, which may hold anything.
    const [, , parent] = /.*\) (\S) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return Number(parent);
  } catch {
    return undefined;
  }
}
