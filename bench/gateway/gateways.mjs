import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tools/lib/ports.mjs';
import { untilAnswers } from '../lib/programs.mjs';

const beside = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * One more gateway of the running product, with the command line and the environment that `npm start`
 * gave to the first one; `flag` is given to or taken from Node. With `probe` it answers questions about
 * its memory and its pauses.
 */
export async function startGateway({ dev, children }, options = {}) {
  const { env = {}, preload, flag, probe = false, output = '/dev/null' } = options;
  const [command, ...own] = partsOf(dev.pids.gateway, 'cmdline');
  const args = flag ? withFlag(own, flag) : own;
  const ports = { PORT: await freePort(), OPS_PORT: await freePort() };
  const loaded = [...(preload ? [preload] : []), ...(probe ? ['probe.cjs'] : [])].map(beside);
  const flags = [...(probe ? ['--expose-gc'] : []), ...loaded.flatMap((file) => ['-r', file])];
  const log = openSync(output, 'w');
  const child = children.start(command, [...flags, ...args], {
    env: { ...environmentOf(dev.pids.gateway), ...env, ...asText(ports) },
    stdio: ['ignore', log, 'inherit', ...(probe ? ['ipc'] : [])],
  });
  closeSync(log);
  const opsUrl = `http://127.0.0.1:${ports.OPS_PORT}`;
  await untilAnswers(child, `${opsUrl}/health/ready`, { ok: true });
  return {
    url: `http://127.0.0.1:${ports.PORT}`,
    opsUrl,
    pid: child.pid,
    ask: (question) => ask(child, question),
    end: () => children.end(child),
  };
}

export const startsWith = ({ dev }, flag) => partsOf(dev.pids.gateway, 'cmdline').includes(flag);

const withFlag = (args, { name, given }) => [
  ...(given ? [name] : []),
  ...args.filter((arg) => arg !== name),
];

let lastId = 0;

function ask(child, question) {
  const id = (lastId += 1);
  return new Promise((resolve) => {
    const listen = (message) => {
      if (message.id !== id) return;
      child.off('message', listen);
      resolve(message.answer);
    };
    child.on('message', listen);
    child.send({ id, question });
  });
}

const partsOf = (pid, file) =>
  readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').filter(Boolean);

const environmentOf = (pid) =>
  Object.fromEntries(
    partsOf(pid, 'environ').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );

const asText = (env) => Object.fromEntries(Object.entries(env).map(([k, v]) => [k, String(v)]));
