import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** @param {string} name */
const beside = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Forks a program of this folder on the given Node.
 *
 * @param {string} name
 * @param {string} node
 */
export const forkOf = (name, node) => fork(beside(name), { execPath: node });

/**
 * A bare fork whose echo is asked for: a call resolves with its answer.
 *
 * @param {string} node
 */
export async function startEcho(node) {
  const child = forkOf('echo.cjs', node);
  await once(child, 'message');
  /** @type {Map<number, () => void>} */
  const waiting = new Map();
  let last = 0;
  child.on('message', (/** @type {{ id: number }} */ { id }) => {
    waiting.get(id)?.();
    waiting.delete(id);
  });
  return {
    pid: child.pid ?? 0,
    /** @param {unknown} args */
    call: (args) =>
      /** @type {Promise<void>} */ (
        new Promise((resolve) => {
          last += 1;
          waiting.set(last, resolve);
          child.send({ id: last, args });
        })
      ),
    end: () => end(child),
  };
}

/**
 * The time until a bare fork has said its first word, in milliseconds.
 *
 * @param {string} node
 */
export async function timeOfFirstWord(node) {
  const begunAt = performance.now();
  const child = forkOf('echo.cjs', node);
  await once(child, 'message');
  const took = performance.now() - begunAt;
  await end(child);
  return took;
}

/** @param {import('node:child_process').ChildProcess} child */
export async function end(child) {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
