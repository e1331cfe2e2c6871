// npm run images:verify: builds the images and runs them. See --help.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, databaseUrls } from './lib/database.mjs';
import { devFile } from './lib/dev.mjs';
import { buildImages, runOrFail } from './lib/images/build.mjs';
import { Containers, docker, podman, requirePrograms } from './lib/images/engines.mjs';
import { freePort } from './lib/ports.mjs';
import { endPassing, respondsOk, startService, waitUntilReady } from './lib/processes.mjs';
import { script, step, Trouble } from './lib/progress.mjs';
import { appNames, repoRoot } from './lib/repo.mjs';
import { stopAll } from './lib/running.mjs';
import { generateKeyRing, generateSecrets, writePrivate } from './lib/secrets.mjs';
import { startServices } from './lib/services/services.mjs';
import { tour } from './lib/tour.mjs';

const help = `
npm run images:verify

Builds the four images from docker/Dockerfile as it is, on a base that it makes itself: Debian and
the Node.js of that version from npm. Runs them read-only, unprivileged and without capabilities
against a real Postgres and Redis through the tour of the README: under Podman, and under Docker
where one answers; each with the engine's own seccomp profile, then the runner with that of level 3.

Needs root, Linux, and these programs of Debian:
  buildah podman runc conmon mmdebstrap golang-github-containers-common curl
Takes about six minutes and 5 GB below /var/tmp, and leaves nothing behind.`;

const profile = join(repoRoot, 'k8s/components/level-3/nodes/glovebox-level-3.json');
const lookAround = readFileSync(join(repoRoot, 'tools/lib/images/look-around.mjs'), 'utf8');
/** Docker counts in powers of ten. */
const gatewaySizeMbMax = 230;

/** @type {import('./lib/types.js').Service[]} */
const services = [];
/** @type {Containers[]} */
const allContainers = [];

await script(help, async () => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new Trouble('Only root on Linux can build and run the images this way.');
  }
  await requirePrograms(['buildah', 'podman', 'runc', 'conmon', 'mmdebstrap', 'curl']);
  const folder = mkdtempSync('/var/tmp/glovebox-images-');
  // The stores run as nobody and must pass through.
  chmodSync(folder, 0o711);
  const tag = `verify-${process.pid}`;
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.once(signal, () => void cleanUp(folder).finally(() => process.exit(1)));
  }
  try {
    await buildImages(folder, tag);
    const product = await startStores(folder);
    const engines = [podman(folder), await docker(folder)];
    for (const engine of engines) {
      if (engine) await tryEngine(engine, tag, product);
      else console.log('  – docker: none answers here (docker info), not tried');
    }
    console.log('The images run.');
  } finally {
    await step('clean up', () => cleanUp(folder));
  }
});

/** @typedef {Awaited<ReturnType<typeof startStores>>} Product */

/** @param {string} folder */
async function startStores(folder) {
  const secrets = generateSecrets();
  const started = (/** @type {import('./lib/types.js').Service} */ service) =>
    void services.push(service);
  const stores = { folder, secrets, env: {}, durable: false, started };
  const { databaseUrl, redisUrl } = await startServices(stores);
  const demoPort = await freePort();
  const demo = startService({
    name: 'demo-destination',
    command: process.execPath,
    args: [join(repoRoot, 'tools', 'demo-destination.mjs'), String(demoPort)],
    env: {},
    logFile: join(folder, 'logs', 'demo-destination.log'),
  });
  services.push(demo);
  await waitUntilReady(demo, () => respondsOk(`http://127.0.0.1:${demoPort}/echo`));
  return { folder, secrets, databaseUrl, redisUrl, keyRing: generateKeyRing(), demoPort };
}

/**
 * @param {import('./lib/images/engines.mjs').Engine} engine
 * @param {string} tag
 * @param {Product} product
 */
async function tryEngine(engine, tag, product) {
  const containers = new Containers(engine, tag);
  allContainers.push(containers);
  console.log(`${engine.name}:`);
  await step('images', () => engine.prepare(tag));
  await step('sizes', () => sizesOf(containers));
  const database = await createDatabase(product.databaseUrl, `glovebox_${engine.name}`);
  const env = await environments({ ...product, databaseUrl: database });
  const envFile = (/** @type {string} */ app) => {
    const file = join(product.folder, `${app}.env`);
    const lines = Object.entries(env.of[app] ?? {}).map(([name, value]) => `${name}=${value}\n`);
    writePrivate(file, lines.join(''));
    return file;
  };

  const once = async (/** @type {string} */ command, /** @type {string[]} */ ...args) => {
    const options = { envFile: envFile('operator'), detached: false };
    const entry = `dist/apps/management-api/${command}.main.js`;
    return containers.start('management-api', { ...options, command: ['node', entry, ...args] });
  };
  await step('roles and migrations', async () => {
    await once('roles');
    await once('migrate', 'up');
  });
  const apps = ['management-api', 'runner', 'worker', 'gateway'];
  for (const app of apps) {
    await step(app, async () => {
      await containers.start(app, { envFile: envFile(app) });
      await untilHealthy(containers, app);
      return hardening(containers, app);
    });
  }
  const made = await containers.inside('management-api', [
    ...['node', 'dist/apps/management-api/tenant-create.main.js', '--name', 'Demo', '--demo'],
  ]);
  const keys = JSON.parse(made.split('\n').find((line) => line.includes('tenant_id')) ?? '');
  const dev = {
    baseUrl: env.baseUrl,
    adminKey: keys.management_key,
    privateKey: keys.private_key,
    demoDestination: `http://127.0.0.1:${product.demoPort}`,
  };
  writePrivate(devFile(product.folder), JSON.stringify(dev));

  await step("the tour, with the engine's own seccomp profile", () => takeTour(product.folder));
  await step('the runner', () => describeRunner(containers, env.runnerOpsPort));
  await step('the runner with the profile of level 3', async () => {
    await containers.stop('runner');
    await containers.start('runner', { envFile: envFile('runner'), seccomp: profile });
    await untilHealthy(containers, 'runner');
    const found = await describeRunner(containers, env.runnerOpsPort);
    if (!found.startsWith('level 3')) throw new Trouble(`The runner has ${found}.`);
    return found;
  });
  await step('the tour at level 3', () => takeTour(product.folder));
  await step('the runner after its runs, no orphan left', () => hardening(containers, 'runner'));
  await step('all end in order', async () => {
    for (const app of apps.toReversed()) {
      const code = await containers.stop(app);
      if (code !== 0) throw new Trouble(`${app} ended with ${code}.`);
    }
  });
}

/** @param {Containers} containers */
async function sizesOf(containers) {
  const sizes = await Promise.all(
    appNames.map(async (app) => ({ app, megabytes: await containers.sizeMb(app) })),
  );
  const gateway = sizes.find(({ app }) => app === 'gateway')?.megabytes ?? 0;
  if (gateway > gatewaySizeMbMax) {
    throw new Trouble(`The image of the gateway has ${gateway} MB, more than ${gatewaySizeMbMax}.`);
  }
  return sizes.map(({ app, megabytes }) => `${app} ${megabytes} MB`).join(', ');
}

/**
 * What each container gets. They share the network of the machine, and listen on its loopback.
 *
 * @param {Product} product
 */
async function environments({ secrets, databaseUrl, redisUrl, keyRing, demoPort }) {
  const urls = databaseUrls(databaseUrl, secrets);
  const names = ['management', 'gateway', 'managementOps', 'gatewayOps', 'workerOps'];
  const chosen = [...names, 'runner', 'runnerOps'].map(async (name) => [name, await freePort()]);
  /** @type {Record<string, number>} */
  const ports = Object.fromEntries(await Promise.all(chosen));
  const all = { HOST: '127.0.0.1', EGRESS_ALLOW: `127.0.0.1:${demoPort}` };
  const data = {
    ...all,
    DATABASE_URL: urls.data,
    REDIS_URL: redisUrl,
    KEY_RING: keyRing,
    RUNNER_URLS: `tcp://127.0.0.1:${ports.runner}`,
    RUNNER_SECRET: secrets.runnerSecret,
  };
  /** @type {Readonly<Record<string, import('./lib/types.js').Environment>>} */
  const of = {
    operator: {
      ADMIN_DATABASE_URL: urls.admin,
      OWNER_PASSWORD: secrets.ownerPassword,
      MANAGEMENT_PASSWORD: secrets.managementPassword,
      DATA_PASSWORD: secrets.dataPassword,
      ROTATION_PASSWORD: secrets.rotationPassword,
      DATABASE_URL: urls.owner,
    },
    'management-api': {
      ...{ ...all, DATABASE_URL: urls.management, REDIS_URL: redisUrl, KEY_RING: keyRing },
      ...{ PORT: `${ports.management}`, OPS_PORT: `${ports.managementOps}` },
      GATEWAY_URL: `http://127.0.0.1:${ports.gateway}`,
    },
    gateway: {
      ...data,
      MANAGEMENT_URL: `http://127.0.0.1:${ports.management}`,
      ...{ PORT: `${ports.gateway}`, OPS_PORT: `${ports.gatewayOps}` },
    },
    worker: { ...data, OPS_PORT: `${ports.workerOps}` },
    runner: {
      ...{ ...all, RUNNER_SECRET: secrets.runnerSecret, OPS_PORT: `${ports.runnerOps}` },
      RUNNER_LISTEN: `tcp://127.0.0.1:${ports.runner}`,
      ...{ SANDBOX_POOL_MB: '2900', SANDBOX_PROCESSES: '32' },
    },
  };
  return { of, baseUrl: `http://127.0.0.1:${ports.gateway}`, runnerOpsPort: ports.runnerOps };
}

/**
 * Asks by the health check of the image.
 *
 * @param {Containers} containers
 * @param {string} app
 */
async function untilHealthy(containers, app) {
  for (const deadline = performance.now() + 60_000; ; await sleep(250)) {
    try {
      return await containers.inside(app, ['node', '/app/healthcheck.mjs', 'ready']);
    } catch (error) {
      if (performance.now() < deadline) continue;
      throw new Trouble(`${/** @type {Error} */ (error).message}\n${await containers.logs(app)}`);
    }
  }
}

/**
 * Compares what a container may do, and what it holds, with what the product promises.
 *
 * @param {Containers} containers
 * @param {string} app
 */
async function hardening(containers, app) {
  const program = ['node', '--input-type=module', '--eval', lookAround];
  const found = JSON.parse(await containers.inside(app, program));
  const { uid, node, ...rest } = found;
  const promised = {
    ...{ init: 'tini', capabilities: '0000000000000000', noNewPrivileges: '1', seccomp: '2' },
    ...{ readOnly: true, npm: false, types: false, sources: false, unreaped: 0 },
  };
  if (uid === 0 || !isDeepStrictEqual(rest, promised)) {
    throw new Trouble(`${app} is not as promised: ${JSON.stringify(found)}`);
  }
  return `Node ${node}, uid ${uid}, ${rest.init}, read-only, no capabilities, seccomp`;
}

/**
 * The level by the metric, and the reason by the health check.
 *
 * @param {Containers} containers
 * @param {number | undefined} opsPort
 */
async function describeRunner(containers, opsPort) {
  const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
  const level = /^glovebox_sandbox_level(?:\{.*\})? (\d)$/m.exec(metrics)?.[1];
  const health = JSON.parse(await containers.inside('runner', ['node', '/app/healthcheck.mjs', 'ready'])); // prettier-ignore
  const { sandbox } = health.components;
  if (!sandbox.startsWith(`level ${level}`)) throw new Trouble(`${sandbox}, but metric ${level}`);
  return sandbox;
}

/**
 * Pastes the tour of the README, and compares its outputs with those that the page shows.
 *
 * @param {string} folder
 */
async function takeTour(folder) {
  const steps = tour();
  const mark = '---next---';
  const commands = steps.map(({ command }) => `${command}\nprintf '\\n${mark}\\n'\n`).join('');
  const output = await runOrFail('sh', ['-eu', '-c', commands], {
    cwd: repoRoot,
    env: { ...process.env, GLOVEBOX_DIR: folder },
    timeoutMs: 60_000,
  });
  const outputs = output.split(mark);
  const shown = steps.flatMap(({ output: page }, at) => (page ? [{ page, got: outputs[at] }] : []));
  for (const { page, got = '' } of shown) {
    if (!fits(JSON.parse(got), JSON.parse(page))) {
      throw new Trouble(`The README shows\n${page}\nbut this came:\n${got}`);
    }
  }
  return `${shown.length} answers as the README shows them`;
}

/**
 * In what the page shows "…" stands for any text, and a member "…" for any members.
 *
 * @param {any} got
 * @param {any} shown
 * @returns {boolean}
 */
function fits(got, shown) {
  if (shown === '…') return typeof got === 'string';
  if (typeof shown !== 'object' || shown === null) return got === shown;
  if (typeof got !== 'object' || got === null || Array.isArray(got) !== Array.isArray(shown)) {
    return false;
  }
  const names = Object.keys(shown).filter((name) => name !== '…');
  const isOpen = Object.hasOwn(shown, '…');
  return (
    names.every((name) => fits(got[name], shown[name])) &&
    (isOpen || Object.keys(got).length === names.length)
  );
}

/** @param {string} folder */
async function cleanUp(folder) {
  await endPassing();
  for (const containers of allContainers) await containers.removeAll();
  await stopAll(services);
  rmSync(folder, { recursive: true, force: true });
}
