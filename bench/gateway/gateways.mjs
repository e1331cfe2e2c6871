import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tools/lib/ports.mjs';
import { untilAnswers } from '../lib/programs.mjs';

/** @typedef {{ name: string, given: boolean }} Flag an option of Node, to be given or taken away */

/** @param {string} name */
const beside = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Starts one more gateway of the running product, with the command line and environment of the
 * first. `flag` is given to or taken from Node. With `probe` it answers questions about its memory
 * and its pauses.
 *
 * @param {Pick<import('../types.js').Setting, 'dev' | 'children'>} setting
 * @param {StartOptions & { env?: Readonly<Record<string, string>> }} options
 * @returns {Promise<import('../types.js').BenchGateway>}
 */
export async function startGateway(setting, { env = {}, ...options } = {}) {
  const port = await freePort();
  const started = await startOneMore(
    setting,
    'gateway',
    { ...env, PORT: `${port}`, FORWARD_PORT: '0' },
    options,
  );
  return { ...started, url: `http://127.0.0.1:${port}` };
}

/**
 * Starts one more runner of the running product, with a folder of its own and with the probe.
 *
 * @param {Pick<import('../types.js').Setting, 'dev' | 'children'>} setting
 * @param {string} folder
 * @returns {Promise<import('../types.js').BenchRunner>}
 */
export async function startRunner(setting, folder) {
  const url = `unix:${join(folder, 'runner.sock')}`;
  const env = { RUNNER_LISTEN: url, RUNNER_WORK_DIR: folder };
  return { ...(await startOneMore(setting, 'runner', env, { probe: true })), url };
}

/**
 * @typedef {{ preload?: string, flag?: Flag, main?: string, probe?: boolean, output?: string }} StartOptions
 *
 * @param {Pick<import('../types.js').Setting, 'dev' | 'children'>} setting
 * @param {'gateway' | 'runner'} name
 * @param {Readonly<Record<string, string>>} env
 * @param {StartOptions} options
 */
async function startOneMore({ dev, children }, name, env, options) {
  const { preload, flag, main, probe = false, output = '/dev/null' } = options;
  const first = dev.pids[name];
  const [command = '', ...own] = partsOf(first, 'cmdline');
  const mine = flag ? withFlag(own, flag) : own;
  const args = mine.map((arg) => (main && arg.endsWith('main.js') ? main : arg));
  const opsPort = await freePort();
  const loaded = [...(preload ? [preload] : []), ...(probe ? ['../lib/probe.cjs'] : [])].map(
    beside,
  );
  const flags = [...(probe ? ['--expose-gc'] : []), ...loaded.flatMap((file) => ['-r', file])];
  const log = openSync(output, 'w');
  const child = children.start(command, [...flags, ...args], {
    env: { ...environmentOf(first), ...env, OPS_PORT: `${opsPort}` },
    stdio: probe ? ['ignore', log, 'inherit', 'ipc'] : ['ignore', log, 'inherit'],
  });
  closeSync(log);
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  await untilAnswers(child, `${opsUrl}/health/ready`, { ok: true });
  return {
    opsUrl,
    pid: child.pid ?? 0,
    /** @param {string} question */
    ask: (question) => ask(child, question),
    end: () => children.end(child),
  };
}

/**
 * @param {import('../types.js').Setting} setting
 * @param {string} flag
 */
export const startsWith = ({ dev }, flag) => partsOf(dev.pids.gateway, 'cmdline').includes(flag);

/**
 * @param {readonly string[]} args
 * @param {Flag} flag
 */
const withFlag = (args, { name, given }) => [
  ...(given ? [name] : []),
  ...args.filter((arg) => arg !== name),
];

let lastId = 0;

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} question
 * @returns {Promise<any>} the answer of probe.cjs
 */
function ask(child, question) {
  const id = (lastId += 1);
  return new Promise((resolve) => {
    /** @param {any} message */
    const listen = (message) => {
      if (message.id !== id) return;
      child.off('message', listen);
      resolve(message.answer);
    };
    child.on('message', listen);
    child.send?.({ id, question });
  });
}

/**
 * @param {number | undefined} pid
 * @param {string} file
 */
const partsOf = (pid, file) =>
  readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').filter(Boolean);

/** @param {number | undefined} pid */
const environmentOf = (pid) =>
  Object.fromEntries(
    partsOf(pid, 'environ').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
