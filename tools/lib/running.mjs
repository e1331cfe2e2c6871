import { existsSync, openSync, closeSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { endNow, identify, isAlive, stopService } from './processes.mjs';
import { Trouble } from './progress.mjs';
import { writePrivate } from './secrets.mjs';

/**
 * Callers first, then the apps that they call, the stores last: each one keeps what it still needs.
 */
const stopOrder = [
  ['gateway'],
  ['worker', 'management-api'],
  ['runner', 'demo-destination'],
  ['redis', 'postgres'],
];

/**
 * The processes of one state folder. The list is written at the start of each process, before it is
 * ready, so that even after a kill -9 of `npm start` the next command finds and ends the others.
 */
export class Running {
  #file;
  /** @type {import('./types.js').ProcessIdentity | null} */
  #supervisor;
  #stopping = false;
  /** @type {import('./types.js').Service[]} */
  services = [];

  /**
   * @param {string} folder
   * @param {{ supervised: boolean }} options
   */
  constructor(folder, { supervised }) {
    this.#file = join(folder, 'processes.json');
    this.#supervisor = supervised ? identify(process.pid) : null;
  }

  /** @param {import('./types.js').Service} service */
  add(service) {
    this.services.push(service);
    this.save();
    if (!this.#stopping) return;
    endNow(service);
    throw new Trouble('Interrupted.');
  }

  save({ supervised = true } = {}) {
    if (!supervised) this.#supervisor = null;
    const processes = this.services.map(({ name, pid, startedAt }) => ({ name, pid, startedAt }));
    writePrivate(
      this.#file,
      JSON.stringify({ supervisor: this.#supervisor, processes }, null, 2) + '\n',
    );
  }

  async stop() {
    this.#stopping = true;
    await stopAll(this.services);
    rmSync(this.#file, { force: true });
  }
}

/**
 * @param {string} folder
 * @returns {{ supervisor: import('./types.js').ProcessIdentity | null, supervised: boolean, processes: import('./types.js').NamedProcess[] }}
 */
export function readRunning(folder) {
  const file = join(folder, 'processes.json');
  if (!existsSync(file)) return { supervisor: null, supervised: false, processes: [] };
  const { supervisor, processes } = JSON.parse(readFileSync(file, 'utf8'));
  return {
    supervisor: supervisor && isAlive(supervisor) ? supervisor : null,
    supervised: supervisor !== null,
    processes: processes.filter(isAlive),
  };
}

/** @param {readonly import('./types.js').NamedProcess[]} services */
export async function stopAll(services) {
  for (const names of stopOrder) {
    const group = services.filter(({ name }) => names.includes(name));
    await Promise.all(
      group.map((service) =>
        // SIGINT is Postgres's "fast": it ends sessions and writes a checkpoint.
        stopService(service, { signal: service.name === 'postgres' ? 'SIGINT' : 'SIGTERM' }),
      ),
    );
  }
}

/** @param {string} folder */
export function forget(folder) {
  rmSync(join(folder, 'processes.json'), { force: true });
  rmSync(join(folder, 'dev.json'), { force: true });
}

/**
 * @param {string} folder
 * @param {number} [pid]
 */
export const atWork = (folder, pid) =>
  `Another npm start${pid === undefined ? '' : ` (process ${pid})`} is at work in ${folder}. Wait until it is ready, or end it ` +
  'with Ctrl-C there. For a second copy: GLOVEBOX_DIR=/other npm start -- --port 18080';

/**
 * Locks the folder against a second start, which would use the same data.
 *
 * @param {string} folder
 */
export function lock(folder) {
  const file = join(folder, 'lock');
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const handle = openSync(file, 'wx', 0o600);
      writeSync(handle, JSON.stringify(identify(process.pid)));
      closeSync(handle);
      let held = true;
      return () => {
        if (held) rmSync(file, { force: true });
        held = false;
      };
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
      const holder = readHolder(file);
      if (holder && isAlive(holder)) {
        throw new Trouble(atWork(folder, holder.pid));
      }
      rmSync(file, { force: true });
    }
  }
  throw new Trouble(`Cannot take ${file}.`);
}

/**
 * @param {string} file
 * @returns {import('./types.js').ProcessIdentity | undefined}
 */
function readHolder(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
