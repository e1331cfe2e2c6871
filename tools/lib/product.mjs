import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildStaleApps, cliRoot, consoleRoot } from '../build.mjs';
import { choosePorts, describeApps, runnerFolder } from './apps.mjs';
import {
  createManagementKey,
  createRoles,
  createTenant,
  databaseUrls,
  migrate,
} from './database.mjs';
import { findBubblewrap } from './services/bubblewrap.mjs';
import { keptPort } from './ports.mjs';
import { respondsOk, startService, waitUntilReady } from './processes.mjs';
import { step, together } from './progress.mjs';
import { appNames, repoRoot } from './repo.mjs';
import { keyRingFileOf, secretsOf, writePrivate } from './secrets.mjs';
import { devFile } from './dev.mjs';
import { demoTenants } from './demo-tenants.mjs';
import { tour } from './tour.mjs';
import { startServices } from './services/services.mjs';

export const buildRoots = [...appNames.map((name) => `apps/${name}`), consoleRoot, cliRoot];

/**
 * Starts the product once dependencies are installed. `running` is told of every process.
 *
 * @param {{ folder: string, env: import('./types.js').Environment, running: import('./running.mjs').Running }} options
 * @returns {Promise<import('./types.js').Dev>}
 */
export async function startProduct({ folder, env, running }) {
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const secrets = secretsOf(folder);
  const keyRing = keyRingOf(env, folder);
  const demoPort = await keptPort(join(folder, 'demo-port'), 'demo destination');
  const ports = await choosePorts(env);
  /** @param {import('./types.js').Service} service */
  const started = (service) => running.add(service);
  const [services, bubblewrap, demo] = await together([
    (signal) => startServices({ folder, secrets, env, durable: true, started, signal }),
    (signal) => bubblewrapOf(env, signal),
    (signal) => startDemoDestination(demoPort, logs, started, signal),
    (signal) => step('build', buildWhatChanged, signal),
  ]);
  const urls = databaseUrls(services.databaseUrl, secrets);
  await step('roles and migrations', async () => {
    await createRoles(urls.admin, secrets);
    await migrate(urls.owner);
  });
  const { redisUrl } = services;
  const workFolder = runnerFolder(folder);
  const apps = describeApps({
    ...{ env, ports, urls, redisUrl, keyRing, secrets, workFolder, demo },
    bwrap: bubblewrap.command,
  });
  const baseUrl = `http://127.0.0.1:${ports.gateway}`;
  await startApps(apps, baseUrl, logs, started);
  const stores = { databaseUrl: urls.management, redisUrl, keyRing };
  const tenants = await step('demo tenants', () =>
    demoTenants(folder, baseUrl, {
      createTenant: (name) => createTenant(name, { demo: true, ...stores }),
      createManagementKey: (tenantId) => createManagementKey(tenantId, stores),
    }),
  );
  const dev = {
    baseUrl,
    managementUrl: `http://127.0.0.1:${ports['management-api']}`,
    consoleUrl: `http://127.0.0.1:${ports.console}`,
    forwardUrl: `http://127.0.0.1:${ports.forward}`,
    ...(ports.inspector === undefined ? {} : { inspectorPort: ports.inspector }),
    gatewayUrls: [baseUrl],
    ...tenants,
    databaseUrl: urls.admin,
    databaseUrls: urls,
    redisUrl,
    demoDestination: demo.url,
    sandboxes: await levelOfSandboxes(apps, bubblewrap),
    ...(bubblewrap.command ? { bubblewrap: bubblewrap.command } : {}),
    opsUrls: Object.fromEntries(apps.map(({ name, opsUrl }) => [name, opsUrl])),
    ...(keyRing.KEY_RING_FILE ? { keyRingFile: keyRing.KEY_RING_FILE } : {}),
    logFiles: Object.fromEntries(running.services.map(({ name, logFile }) => [name, logFile])),
    pids: Object.fromEntries(running.services.map(({ name, pid }) => [name, pid])),
    allow: (env.EGRESS_ALLOW ?? '').split(',').filter(Boolean),
    tour: tour(),
  };
  writePrivate(devFile(folder), JSON.stringify(dev, null, 2) + '\n');
  return dev;
}

async function buildWhatChanged() {
  const built = await buildStaleApps(buildRoots);
  return built === 0 ? 'nothing changed' : `${built} apps`;
}

/**
 * @param {import('./types.js').Environment} env
 * @param {string} folder
 * @returns {import('./types.js').KeyRingVariable}
 */
function keyRingOf(env, folder) {
  if (env.KEY_RING) return { KEY_RING: env.KEY_RING };
  return { KEY_RING_FILE: env.KEY_RING_FILE || keyRingFileOf(folder) };
}

/**
 * @param {number} port
 * @param {string} logs
 * @param {(service: import('./types.js').Service) => void} started
 * @param {AbortSignal} signal
 */
async function startDemoDestination(port, logs, started, signal) {
  const url = `http://127.0.0.1:${port}`;
  const service = startService({
    name: 'demo-destination',
    command: process.execPath,
    args: [join(repoRoot, 'tools', 'demo-destination.mjs'), String(port)],
    env: {},
    logFile: join(logs, 'demo-destination.log'),
  });
  started(service);
  await waitUntilReady(service, () => respondsOk(`${url}/echo`), { signal });
  return { url, address: `127.0.0.1:${port}` };
}

/**
 * The caller's settings win; else sandboxes get the highest level that is possible here.
 *
 * @param {import('./types.js').Environment} env
 * @param {AbortSignal} signal
 * @returns {Promise<import('./types.js').FoundBubblewrap>}
 */
async function bubblewrapOf(env, signal) {
  if (env.BWRAP) return { command: env.BWRAP };
  if (env.SANDBOX_LEVEL === '2') return {};
  /** @type {import('./types.js').FoundBubblewrap} */
  let found = {};
  const find = async () => {
    found = await findBubblewrap();
    return found.command ?? `none: ${found.missing}`;
  };
  await step('bubblewrap', find, signal);
  return found;
}

/**
 * The level that the runner found by trying. It does not know why it was given no bubblewrap.
 *
 * @param {readonly import('./types.js').AppCommand[]} apps
 * @param {import('./types.js').FoundBubblewrap} bubblewrap
 */
async function levelOfSandboxes(apps, { missing }) {
  const runner = apps.find(({ name }) => name === 'runner');
  const answer = await fetch(`${runner?.opsUrl}/health/ready`);
  const { components } = /** @type {{ components: { sandbox: string } }} */ (await answer.json());
  return components.sandbox.replace('bubblewrap is not installed', (known) => missing ?? known);
}

/**
 * @param {readonly import('./types.js').AppCommand[]} apps
 * @param {string} baseUrl
 * @param {string} logs
 * @param {(service: import('./types.js').Service) => void} started
 */
async function startApps(apps, baseUrl, logs, started) {
  const starting = apps.map((app) => {
    const service = startService({ ...app, logFile: join(logs, `${app.name}.log`) });
    started(service);
    const isReady = () => respondsOk(`${app.opsUrl}/health/ready`);
    return (/** @type {AbortSignal} */ signal) =>
      step(app.name, () => waitUntilReady(service, isReady, { signal }), signal);
  });
  await together(starting);
  await step('health of the whole', async () => {
    const front = { name: 'the product', logFile: join(logs, 'gateway.log') };
    await waitUntilReady(front, () => respondsOk(`${baseUrl}/health/ready`), { timeoutMs: 30_000 });
  });
}
