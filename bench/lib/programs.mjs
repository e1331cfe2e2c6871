import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Finds a program, or undefined. Debian has nginx on the PATH of root alone.
 *
 * @param {string} name
 */
export function findProgram(name) {
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
}

/** Child processes that end with the bench, however it ends. */
export class Children {
  /** @type {Set<import('node:child_process').ChildProcess>} */
  #children = new Set();
  // SIGKILL would leave nginx's worker behind.
  #killAll = () => {
    for (const child of this.#children) child.kill('SIGTERM');
  };

  constructor() {
    process.on('exit', this.#killAll);
  }

  /**
   * @param {string} command
   * @param {readonly string[]} args
   * @param {import('node:child_process').SpawnOptions} options
   */
  start(command, args, options = {}) {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options });
    this.#children.add(child);
    child.once('error', () => this.#children.delete(child));
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  /** @param {import('node:child_process').ChildProcess} child */
  async end(child) {
    if (!this.#children.has(child)) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await ended;
    clearTimeout(late);
  }

  async endAll() {
    await Promise.all([...this.#children].map((child) => this.end(child)));
    process.off('exit', this.#killAll);
  }
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} url
 * @param {{ ok?: boolean }} options
 */
export async function untilAnswers(child, url, { ok = false } = {}) {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer && (answer.ok || !ok)) return;
    if (child.exitCode !== null) throw new Error(`What should answer at ${url} has ended`);
    if (performance.now() > deadline) throw new Error(`Nothing answers at ${url}`);
    await sleep(50);
  }
}
