import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Trouble } from './progress.mjs';

/**
 * @typedef {import('./types.js').ProcessIdentity & { readonly parent: number }} ProcessEntry
 * @typedef {import('node:child_process').SpawnOptions & {
 *   timeoutMs?: number,
 *   onOutput?: (text: string, end: () => void) => void,
 * }} RunOptions
 */

const hasProc = existsSync('/proc/self/stat');

/**
 * All live processes by pid. The kernel reuses pids; a pid and its start time name one process for
 * good, so that no process of others is ever signalled.
 *
 * @returns {Map<number, ProcessEntry>}
 */
function processTable() {
  return new Map((hasProc ? fromProc() : fromPs()).map((entry) => [entry.pid, entry]));
}

/** @returns {ProcessEntry[]} */
function fromProc() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const entry = readStat(pid);
      return entry ? [entry] : [];
    });
}

/**
 * @param {number | string} pid
 * @returns {ProcessEntry | undefined}
 */
function readStat(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name may hold spaces and brackets; the fields begin after its last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return { pid: Number(pid), parent: Number(fields[1]), startedAt: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

/**
 * For macOS, which has no /proc.
 *
 * @returns {ProcessEntry[]}
 */
function fromPs() {
  const { stdout } = spawnSync('ps', ['-axo', 'pid=,ppid=,stat=,lstart='], { encoding: 'utf8' });
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [, pid, parent, state = '', startedAt = ''] =
      /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+)$/.exec(line) ?? [];
    return pid && !state.startsWith('Z')
      ? [{ pid: Number(pid), parent: Number(parent), startedAt: startedAt.trim() }]
      : [];
  });
}

/**
 * @param {number} pid
 * @returns {import('./types.js').ProcessIdentity}
 */
export function identify(pid) {
  const entry = hasProc ? readStat(pid) : processTable().get(pid);
  return { pid, startedAt: entry?.startedAt ?? '' };
}

/** @param {import('./types.js').ProcessIdentity} identity */
export function isAlive({ pid, startedAt }) {
  const entry = hasProc ? readStat(pid) : processTable().get(pid);
  return entry !== undefined && entry.startedAt === startedAt;
}

/**
 * @param {readonly number[]} pids
 * @returns {ProcessEntry[]}
 */
export function descendantsOf(pids, table = processTable()) {
  const found = new Set(pids);
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const entry of table.values()) if (found.has(entry.parent)) found.add(entry.pid);
  }
  for (const pid of pids) found.delete(pid);
  return [...found].flatMap((pid) => table.get(pid) ?? []);
}

/** Short-lived children (npm, initdb, a test run) that an interruption must end, too. */
/** @type {Set<import('node:child_process').ChildProcess>} */
const passing = new Set();
let noMore = false;

/**
 * Runs a command to its end and collects its output. `onOutput` also gets a way to end it.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} options
 */
export async function run(command, args, { timeoutMs, onOutput, ...options } = {}) {
  if (noMore) throw new Trouble('Interrupted.');
  const child = spawn(command, args, {
    detached: true,
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  passing.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
      output += text;
      onOutput?.(text, () => killGroup(child.pid ?? 0));
    });
  }
  let timedOut = false;
  const timer = setTimeout(
    () => {
      timedOut = true;
      killGroup(child.pid ?? 0);
    },
    timeoutMs ?? 2 ** 31 - 1,
  );
  /** @type {number} */
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      output += error.message;
      resolve(127);
    });
    child.once('close', (status) => resolve(status ?? 1));
  });
  clearTimeout(timer);
  passing.delete(child);
  return { code: timedOut ? 124 : code, output, timedOut };
}

/**
 * Asks the short-lived children to end, so that they can end their own children, and kills the rest
 * after a while. With `last` no further command may run.
 *
 * @param {{ graceMs?: number, last?: boolean }} options
 */
export async function endPassing({ graceMs = 10_000, last = false } = {}) {
  noMore ||= last;
  await Promise.all([...passing].map((child) => endChild(child, graceMs)));
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} graceMs
 */
async function endChild({ pid = 0 }, graceMs) {
  const family = [identify(pid), ...descendantsOf([pid])];
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    return; // It has ended by itself.
  }
  await waitUntilGone(family, graceMs);
  killGroup(pid);
  family.forEach(endNow);
}

/** @param {number} pid */
function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

/**
 * Starts a service in its own process group, with its output in a log file.
 *
 * @param {{
 *   name: string,
 *   command: string,
 *   args: readonly string[],
 *   env: import('./types.js').Environment,
 *   logFile: string,
 *   cwd?: string,
 * } & import('./types.js').ServiceUser} options
 * @returns {import('./types.js').Service}
 */
export function startService({ name, command, args, env, logFile, uid, gid, cwd = '/' }) {
  const log = openSync(logFile, 'a', 0o600);
  const logBegin = fstatSync(log).size;
  const child = spawn(command, args, {
    env,
    cwd,
    stdio: ['ignore', log, log],
    detached: true,
    ...(uid === undefined ? {} : { uid, gid }),
  });
  closeSync(log);
  /** @type {import('./types.js').Service} */
  const service = {
    name,
    pid: child.pid ?? 0,
    startedAt: '',
    logFile,
    logBegin,
    ended: undefined,
    child,
  };
  child.once('error', (error) => void (service.ended = error.message));
  child.once('exit', (code, signal) => void (service.ended = signal ?? `code ${code}`));
  if (child.pid) service.startedAt = identify(child.pid).startedAt;
  return service;
}

/**
 * Polls until the service is ready. If it ends meanwhile, the error has the end of its log.
 *
 * @param {{ name: string, logFile: string, logBegin?: number, ended?: string | undefined }} service
 * @param {() => Promise<boolean>} isReady
 * @param {{ signal?: AbortSignal | undefined, timeoutMs?: number }} options
 */
export async function waitUntilReady(service, isReady, { signal, timeoutMs = 60_000 } = {}) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (signal?.aborted) throw new Trouble(`${service.name} was not waited for.`);
    if (await isReady()) return;
    if (service.ended)
      throw new Trouble(`${service.name} ended (${service.ended}).${tail(service)}`);
    if (performance.now() > deadline) {
      throw new Trouble(
        `${service.name} was not ready after ${timeoutMs / 1000} s.${tail(service)}`,
      );
    }
    await sleep(25);
  }
}

/**
 * The end of the log of this start; earlier starts wrote to the same file.
 *
 * @param {{ logFile: string, logBegin?: number }} service
 */
function tail({ logFile, logBegin = 0 }) {
  const log = existsSync(logFile) ? readFileSync(logFile).subarray(logBegin) : Buffer.alloc(0);
  const lines = log.toString('utf8').trimEnd().split('\n');
  return ` The end of ${logFile}:\n${lines.slice(-15).join('\n')}`;
}

/** @param {string} url */
export async function respondsOk(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/**
 * Sends the signal, waits, then kills the group and all descendants.
 *
 * @param {import('./types.js').ProcessIdentity} service
 * @param {{ signal?: NodeJS.Signals, graceMs?: number }} options
 */
export async function stopService(service, { signal = 'SIGTERM', graceMs = 15_000 } = {}) {
  if (!service.pid || !isAlive(service)) return;
  const family = descendantsOf([service.pid]);
  process.kill(service.pid, signal);
  const gone = await waitUntilGone([service, ...family], graceMs);
  if (gone) return;
  if (isAlive(service)) killGroup(service.pid);
  for (const member of [service, ...family]) endNow(member);
  await waitUntilGone([service, ...family], 5000);
}

/** @param {import('./types.js').ProcessIdentity} identity */
export function endNow(identity) {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, 'SIGKILL');
  } catch {
    // It ended between the check and the signal.
  }
}

/**
 * @param {readonly import('./types.js').ProcessIdentity[]} identities
 * @param {number} timeoutMs
 */
export async function waitUntilGone(identities, timeoutMs) {
  const deadline = performance.now() + timeoutMs;
  while (identities.some(isAlive)) {
    if (performance.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

/**
 * Remembers every descendant of this process that it sees, so that orphaned ones are still found at
 * the end.
 */
export function watchDescendants(intervalMs = 300) {
  /** @type {Map<string, ProcessEntry>} */
  const seen = new Map();
  const look = () => {
    const table = processTable();
    // A run of all tests has ten thousand processes. Those that have ended are not looked at again.
    for (const [key, { pid, startedAt }] of seen) {
      if (table.get(pid)?.startedAt !== startedAt) seen.delete(key);
    }
    const roots = [process.pid, ...[...seen.values()].map(({ pid }) => pid)];
    for (const entry of descendantsOf(roots, table)) {
      seen.set(`${entry.pid}:${entry.startedAt}`, entry);
    }
  };
  const timer = setInterval(look, intervalMs);
  timer.unref();
  return {
    alive: () => [...seen.values()].filter(isAlive),
    stop: () => {
      look();
      clearInterval(timer);
    },
  };
}

/** @param {number} pid */
export function commandLine(pid) {
  if (!hasProc) return String(pid);
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return String(pid);
  }
}
