// npm start: from a fresh clone to a product that answers. See `npm start -- --help`.
import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConsoleLink } from './lib/database.mjs';
import { installDependencies } from './lib/install.mjs';
import { readDev } from './lib/dev.mjs';
import { endPassing, isAlive, respondsOk } from './lib/processes.mjs';
import { startProduct } from './lib/product.mjs';
import { explain, requireNode, script, seconds, Trouble } from './lib/progress.mjs';
import { possibleFolders } from './lib/services/reachable.mjs';
import { isDefaultFolder, stateFolder } from './lib/repo.mjs';
import { atWork, forget, lock, readRunning, Running, stopAll } from './lib/running.mjs';
import { keyRingForScripts } from './lib/secrets.mjs';
import { asTyped, startOptions, withOptions } from './lib/start-options.mjs';
import { startOutput } from './lib/start-output.mjs';
import { prepareStateFolder } from './lib/state-folder.mjs';

const help = `
npm start [-- OPTION …]

Installs what is missing, starts Postgres, Redis and the four apps on 127.0.0.1, makes two demo
tenants and prints a tour, and a link into the console. Ctrl-C ends everything.

  --detach       leave it running and return; npm stop ends it
  --port N       the gateway gets port N, the management API N + 1, the console N + 4,
                 forward mode N + 5 (8080, 8081, 8084 and 8085 without it). Everything else gets any free
                 ports. With 0, these do as well
  --allow LIST   proxies, webhooks and code may also reach these addresses: 127.0.0.1:3000,
                 10.0.0.0/8:*, [::1]:443. May be repeated; adds to EGRESS_ALLOW
  --reset        delete the data, keys and tenants of the embedded set-up and start from empty
  --help         print this

Environment (all optional; docs/configuration.md has more):
  DATABASE_URL, REDIS_URL     use these servers; the database user must be allowed to create roles
  GATEWAY_PORT (8080), MANAGEMENT_PORT (8081), CONSOLE_PORT (8084), FORWARD_PORT (8085),
  GATEWAY_OPS_PORT, MANAGEMENT_OPS_PORT, WORKER_OPS_PORT, RUNNER_OPS_PORT, POSTGRES_PORT, REDIS_PORT      0 or unset: any free port
  KEY_RING or KEY_RING_FILE   the master keys; made once and kept in .glovebox/key-ring otherwise
  GLOVEBOX_DIR                where data, keys and logs are kept (.glovebox). Another folder makes
                              a second copy; npm stop and the other scripts need it, too
  EGRESS_ALLOW, EGRESS_ALLOW_HTTP, HEADER_PREFIXES, LOG_LEVEL, …   passed on to the apps

Scripts find URLs, keys, log files and process ids in .glovebox/dev.json.`;

/** @type {Running | undefined} */
let running;
let stopping = false;

await script(help, async (args) => {
  requireNode();
  const begun = performance.now();
  const options = startOptions(args, process.env);
  const { detach, reset } = options;
  const env = withOptions(process.env, options);
  if (!reset && (await alreadyRuns(options, env))) return;
  if (reset && process.env.DATABASE_URL) {
    throw new Trouble(
      '--reset throws embedded data away. The database of DATABASE_URL is yours to drop.',
    );
  }
  prepareStateFolder(stateFolder);
  const unlock = lock(stateFolder);
  process.once('exit', unlock);
  endOnSignal();
  try {
    if (reset) await removeState();
    else await removeLeftovers();
    console.log('Starting Glovebox');
    await installDependencies();
    running = new Running(stateFolder, { supervised: true });
    const dev = await startProduct({ folder: stateFolder, env, running });
    const consoleLink = await linkFor(dev);
    console.log(startOutput({ ...dev, consoleLink }, stateFolder, { isDefaultFolder }));
    console.log(`Ready after ${seconds(begun)}.`);
  } catch (error) {
    if (stopping) return;
    await end();
    throw error;
  }
  unlock();
  if (detach) leaveRunning(running);
  else await supervise(running);
});

/**
 * Leaves a running product alone. The rest of a crashed one does not count as running.
 *
 * @param {import('./lib/start-options.mjs').StartOptions} options
 * @param {import('./lib/types.js').Environment} env
 */
async function alreadyRuns(options, env) {
  const state = readRunning(stateFolder);
  const crashed = state.supervised && !state.supervisor;
  if (state.processes.length === 0 || crashed) return false;
  const dev = readDev(stateFolder);
  if (!dev) throw new Trouble(atWork(stateFolder));
  const { baseUrl, allow } = dev;
  const how = allow.length === 0 ? '' : `, with ${asTyped({ allow })}`;
  const runs = `Glovebox runs already at ${baseUrl}${how}`;
  if (!(await respondsOk(`${baseUrl}/health/ready`))) {
    throw new Trouble(
      `${runs}, but is not healthy. ${baseUrl}/health/ready says what is down, ${join(stateFolder, 'logs')} why. npm stop ends it.`,
    );
  }
  const wanted = (env.EGRESS_ALLOW ?? '').split(',').filter(Boolean);
  const missing = asTyped({
    port: options.port && !baseUrl.endsWith(`:${options.port}`) ? options.port : undefined,
    allow: wanted.filter((entry) => !allow.includes(entry)),
  });
  if (missing !== '') {
    const again = asTyped({ ...options, allow: [...new Set([...allow, ...wanted])] });
    throw new Trouble(
      `${runs}, and without ${missing}. Options count at a start alone: npm stop && npm start -- ${again}`,
    );
  }
  if (options.detach) {
    console.log(`${runs}. npm stop ends it.`);
    return true;
  }
  throw new Trouble(`${runs}. End it with Ctrl-C there, or with npm stop.`);
}

/**
 * A link into the console for the demo tenant.
 *
 * @param {import('./lib/types.js').Dev} dev
 */
function linkFor(dev) {
  const { tenantId: tenant, consoleUrl, databaseUrls, redisUrl } = dev;
  const keyRing = keyRingForScripts(process.env, dev, stateFolder);
  const stores = { databaseUrl: databaseUrls.management, redisUrl, keyRing };
  return createConsoleLink({ tenant, role: 'admin', consoleUrl }, stores);
}

async function removeLeftovers() {
  const { processes } = readRunning(stateFolder);
  if (processes.length > 0) {
    console.log(`Ending ${processes.length} processes that an earlier start left behind`);
    await stopAll(processes);
  }
  forget(stateFolder);
}

/** Downloaded programs in bin/ stay: they are not data. */
async function removeState() {
  const { supervisor, processes } = readRunning(stateFolder);
  if (supervisor) process.kill(supervisor.pid, 'SIGTERM');
  while (supervisor && isAlive(supervisor)) await sleep(50);
  await stopAll(processes);
  forget(stateFolder);
  const parts = ['postgres', 'postgres.new', 'redis', 'runner', 'logs'];
  const files = ['secrets.json', 'key-ring', 'demo-tenants.json', 'demo-port'];
  for (const folder of possibleFolders(stateFolder)) {
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (!stat?.isDirectory() || (process.getuid && stat.uid !== process.getuid())) continue;
    for (const name of [...parts, ...files])
      rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function endOnSignal() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal signals the whole group and npm passes it on: one Ctrl-C can arrive twice.
      if (stopping) return;
      stopping = true;
      void endAndExit();
    });
  }
}

async function endAndExit() {
  console.log('\nStopping Glovebox');
  try {
    await end();
    console.log('Stopped: nothing is left running.');
    process.exit(0);
  } catch (error) {
    explain(error);
    process.exit(1);
  }
}

async function end() {
  await endPassing({ graceMs: 2000, last: true });
  await running?.stop();
  forget(stateFolder);
}

/**
 * Leaves without a supervisor. The apps have process groups and log files of their own, health
 * reports what is down, and npm stop finds them by pid and start time. A supervisor would restart
 * nothing, and would be one more process that can fail.
 *
 * @param {Running} started
 */
function leaveRunning(started) {
  started.save({ supervised: false });
  for (const { child } of started.services) child.unref();
  console.log('Left running; npm stop ends it.');
  process.exit(0);
}

/** @param {Running} started */
async function supervise(started) {
  console.log('Ctrl-C ends it.');
  const told = new Set();
  for (;;) {
    await sleep(500);
    for (const { name, ended, logFile } of started.services) {
      if (ended === undefined || told.has(name)) continue;
      told.add(name);
      console.log(`${name} ended (${ended}); the others go on. Its log: ${logFile}`);
    }
  }
}
