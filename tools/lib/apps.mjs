import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { listenerPorts } from './ports.mjs';
import { folderElsewhere, reachableFolder } from './services/reachable.mjs';
import { entryPoint, repoRoot } from './repo.mjs';

/**
 * Variables that are set per app below. A value for one app or for these scripts must not reach
 * others.
 */
const notInherited =
  /^(npm_|NODE_TEST|JEST_|TEST_|ACCEPTANCE_|INIT_CWD$|PORT$|HOST$|OPS_PORT$|DATABASE_URL|REDIS_URL|KEY_RING|RUNNER_SECRET|GLOVEBOX_DIR$)|_(OPS_)?PORT$/;

/**
 * The runner gets only its own settings, the variables that it needs to find programs, and those that
 * npm needs, which fetches runtimes.
 */
const runnerInherits =
  /^(PATH|HOME|TMPDIR|LANG|TZ|LOG_LEVEL|NODE_ENV|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|EGRESS_\w+|SANDBOX_\w+|RUNNER_\w+|REACTOR_\w+)$/;
const npmInherits = /^(npm_config_\w+|npm_execpath|(HTTPS?|NO|ALL)_PROXY)$/i;

/**
 * Ports of the stores are only checked here: the stores take theirs at their start.
 *
 * @param {import('./types.js').Environment} env
 * @returns {Promise<import('./types.js').AppPorts>}
 */
export async function choosePorts(env) {
  const embedded = [
    ...(env.POSTGRES_PORT && !env.DATABASE_URL
      ? [{ name: 'Postgres', variable: 'POSTGRES_PORT' }]
      : []),
    ...(env.REDIS_PORT && !env.REDIS_URL ? [{ name: 'Redis', variable: 'REDIS_PORT' }] : []),
  ];
  const ports = await listenerPorts(env, [
    { name: 'gateway', variable: 'GATEWAY_PORT', byDefault: 8080 },
    { name: 'management API', variable: 'MANAGEMENT_PORT', byDefault: 8081 },
    { name: 'console', variable: 'CONSOLE_PORT', byDefault: 8084 },
    // A gateway that was moved takes any port for it.
    {
      name: 'forward mode',
      variable: 'FORWARD_PORT',
      ...(env.GATEWAY_PORT ? {} : { byDefault: 8085 }),
    },
    ...(letsDebuggersIn(env)
      ? [{ name: 'debuggers', variable: 'SANDBOX_INSPECT_PORT', byDefault: 9230 }]
      : []),
    { name: 'health of the gateway', variable: 'GATEWAY_OPS_PORT' },
    { name: 'health of the management API', variable: 'MANAGEMENT_OPS_PORT' },
    { name: 'health of the worker', variable: 'WORKER_OPS_PORT' },
    { name: 'health of the runner', variable: 'RUNNER_OPS_PORT' },
    ...embedded,
  ]);
  return {
    gateway: ports.GATEWAY_PORT ?? 0,
    'management-api': ports.MANAGEMENT_PORT ?? 0,
    console: ports.CONSOLE_PORT ?? 0,
    forward: ports.FORWARD_PORT ?? 0,
    ...(letsDebuggersIn(env) ? { inspector: ports.SANDBOX_INSPECT_PORT ?? 0 } : {}),
    ops: {
      'management-api': ports.MANAGEMENT_OPS_PORT ?? 0,
      gateway: ports.GATEWAY_OPS_PORT ?? 0,
      worker: ports.WORKER_OPS_PORT ?? 0,
      runner: ports.RUNNER_OPS_PORT ?? 0,
    },
  };
}

/** @param {import('./types.js').Environment} env */
const letsDebuggersIn = (env) => env.SANDBOX_INSPECT === 'true';

/**
 * As in docker/Dockerfile (docs/adr/0081).
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const nodeFlags = { gateway: ['--initial-old-space-size=128'] };

const socketFolderLengthMax = 60;

/**
 * Socket paths must be short (104 bytes on macOS), and the runner's children must reach the folder.
 *
 * @param {string} folder
 */
export function runnerFolder(folder) {
  const wanted = join(reachableFolder(folder), 'runner');
  if (wanted.length > socketFolderLengthMax) return folderElsewhere(wanted);
  mkdirSync(wanted, { recursive: true, mode: 0o711 });
  return wanted;
}

/**
 * Describes how to start each app. No other place knows their environments.
 *
 * @param {{
 *   env: import('./types.js').Environment,
 *   ports: import('./types.js').AppPorts,
 *   urls: import('./types.js').DatabaseUrls,
 *   redisUrl: string,
 *   keyRing: import('./types.js').KeyRingVariable,
 *   secrets: import('./types.js').Secrets,
 *   workFolder: string,
 *   demo: { readonly address: string },
 *   bwrap: string | undefined,
 * }} options
 * @returns {import('./types.js').AppCommand[]}
 */
export function describeApps(options) {
  const { env, ports, urls, redisUrl, keyRing, secrets, workFolder, demo, bwrap } = options;
  const socket = `unix:${join(workFolder, 'runner.sock')}`;
  const egress = {
    EGRESS_ALLOW: joinList(env.EGRESS_ALLOW, demo.address),
    EGRESS_OWN_SERVICES: joinList(env.EGRESS_OWN_SERVICES, ...ownServices(ports, urls, redisUrl)),
  };
  const inherited = pick(env, (name) => !notInherited.test(name));
  const data = {
    ...inherited,
    DATABASE_URL: urls.data,
    REDIS_URL: redisUrl,
    ...keyRing,
    RUNNER_URLS: socket,
    RUNNER_SECRET: secrets.runnerSecret,
    ...egress,
  };
  const apps = {
    'management-api': {
      ...inherited,
      PORT: ports['management-api'],
      CONSOLE_PORT: ports.console,
      DATABASE_URL: urls.management,
      REDIS_URL: redisUrl,
      ...keyRing,
      GATEWAY_URL: `http://127.0.0.1:${ports.gateway}`,
      ...egress,
    },
    runner: {
      ...pick(env, (name) => runnerInherits.test(name) || npmInherits.test(name)),
      RUNNER_LISTEN: socket,
      RUNNER_SECRET: secrets.runnerSecret,
      RUNNER_WORK_DIR: workFolder,
      ...(bwrap ? { BWRAP: bwrap } : {}),
      ...(ports.inspector === undefined ? {} : { SANDBOX_INSPECT_PORT: ports.inspector }),
      RUNNER_RUNTIMES_DIR: env.RUNNER_RUNTIMES_DIR || join(repoRoot, 'apps/runner/runtimes'),
      RUNNER_RUNTIME_FETCHER:
        env.RUNNER_RUNTIME_FETCHER || join(repoRoot, 'tools/fetch-runtime.mjs'),
      ...egress,
    },
    gateway: {
      ...data,
      PORT: ports.gateway,
      FORWARD_PORT: ports.forward,
      MANAGEMENT_URL: `http://127.0.0.1:${ports['management-api']}`,
    },
    worker: data,
  };
  return Object.entries(apps).map(([name, own]) => ({
    name,
    command: process.execPath,
    args: ['--enable-source-maps', ...(nodeFlags[name] ?? []), entryPoint(name)],
    cwd: repoRoot,
    env: asText({ ...own, HOST: '127.0.0.1', OPS_PORT: ports.ops[name] }),
    opsUrl: `http://127.0.0.1:${ports.ops[name]}`,
  }));
}

/**
 * The addresses that no proxy and no reactor may reach, whatever EGRESS_ALLOW says.
 *
 * @param {import('./types.js').AppPorts} ports
 * @param {import('./types.js').DatabaseUrls} urls
 * @param {string} redisUrl
 */
function ownServices(ports, urls, redisUrl) {
  const postgres = new URL(urls.admin);
  const redis = new URL(redisUrl);
  return [
    `${postgres.hostname}:${postgres.port || 5432}`,
    `${redis.hostname}:${redis.port || 6379}`,
    ...[
      ports.gateway,
      ports['management-api'],
      ports.console,
      ports.forward,
      ...(ports.inspector === undefined ? [] : [ports.inspector]),
      ...Object.values(ports.ops),
    ].map((port) => `127.0.0.1:${port}`),
  ];
}

/** @param {(string | undefined)[]} parts */
const joinList = (...parts) => parts.filter(Boolean).join(',');

/**
 * @param {import('./types.js').Environment} env
 * @param {(name: string) => boolean} wanted
 */
const pick = (env, wanted) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => wanted(name)));

/** @param {Readonly<Record<string, string | number | undefined>>} env */
const asText = (env) => Object.fromEntries(Object.entries(env).map(([k, v]) => [k, String(v)]));
