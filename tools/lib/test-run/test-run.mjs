import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildStaleApps } from '../../build.mjs';
import { barePath } from './bare-path.mjs';
import { createDatabase, createRoles, databaseUrls, migrate, withDatabase } from '../database.mjs';
import { devFile } from '../dev.mjs';
import { installDependencies } from '../install.mjs';
import { findChromium } from './chromium.mjs';
import { findKubectl } from './kubectl.mjs';
import { browserFolder, jestCommand, jestCounts, jestProjects, lingers } from './jest-run.mjs';
import { postgresServerCommand, query } from '../services/postgres.mjs';
import {
  commandLine,
  endNow,
  endPassing,
  run,
  stopService,
  waitUntilGone,
  watchDescendants,
} from '../processes.mjs';
import { buildRoots } from '../product.mjs';
import { explain, step, Trouble } from '../progress.mjs';
import { possibleFolders, serviceUser } from '../services/reachable.mjs';
import { findBubblewrap } from '../services/bubblewrap.mjs';
import { redisServerCommand } from '../services/redis.mjs';
import { repoRoot, stateFolder } from '../repo.mjs';
import { generateSecrets, secretsOf, writePrivate } from '../secrets.mjs';
import { startServices } from '../services/services.mjs';

/** @param {string} name */
const bin = (name) => join(repoRoot, 'node_modules', '.bin', name);
/** @param {string} name */
const tool = (name) => join(repoRoot, 'tools', name);
const checkTimeoutMs = 15 * 60_000;
const lingeringMs = 10_000;
/** Projects whose specs start a built runner. */
const startRunners = new Set(['libs/reactors', 'apps/gateway', 'apps/worker']);

/** Specs create and drop databases of 900 files by the hundred: in memory that takes a third. */
function folderOfStores() {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  const isRoomy = Math.min(bavail * bsize, freemem()) > 8 * 1024 ** 3;
  return isRoomy ? memory : tmpdir();
}

/** The test match of what makes pictures of the console. */
export const pictures = '**/*.screenshots.ts';

/** The command line makes its first reactor for it: no spec has to wait for the registry. */
const ofFirstReactors = ['node24'];

/** A run of checks and tests, with its own services in a temporary folder. */
export class TestRun {
  passed = 0;
  failed = 0;
  #total = 0;
  #folder = mkdtempSync(join(tmpdir(), 'glovebox-test-'));
  #stores = mkdtempSync(join(folderOfStores(), 'glovebox-stores-'));
  #children = watchDescendants();
  /** @type {import('../types.js').Service[]} */
  #services = [];
  /** @type {{ databaseUrl: string, name: string }[]} */
  #databases = [];
  /** @type {NodeJS.ProcessEnv | undefined} */
  #acceptance;
  #ended = false;
  /** @type {{ testMatch: string | undefined, minutes: number, jestArgs: readonly string[], workers: number }} */
  #options;

  /** @param {{ testMatch: string | undefined, minutes: number, jestArgs: readonly string[], workers: number }} options */
  constructor(options) {
    this.#options = options;
    // Started by root, Postgres and Redis run as nobody and must pass through.
    for (const folder of [this.#folder, this.#stores]) chmodSync(folder, 0o711);
    process.env.PATH = barePath(join(this.#folder, 'bin'), process.env.PATH ?? '');
  }

  async everything() {
    await installDependencies();
    await this.#check('format', bin('oxfmt'), ['--check', '.']);
    await Promise.all([
      this.#check('types', process.execPath, [tool('typecheck.mjs')]),
      this.#check('lint', process.execPath, [tool('lint.mjs')]),
    ]);
    await this.some(jestProjects().map(({ folder }) => folder));
  }

  /**
   * Builds, then runs the Jest projects, all in one Jest: so both processors are busy to the end.
   * `acceptance` and its `browser` need the whole product.
   *
   * @param {readonly string[]} folders
   */
  async some(folders) {
    const acceptance = folders.some((folder) => folder.startsWith('acceptance'));
    await installDependencies(acceptance ? ofFirstReactors : []);
    // Every run needs the migrations. Other apps are built where they run or are tested.
    const needed = buildRoots.filter(
      (root) =>
        acceptance ||
        root === 'apps/management-api' ||
        folders.includes(root) ||
        (root === 'apps/runner' && folders.some((folder) => startRunners.has(folder))),
    );
    await step('build', async () => `${await buildStaleApps(needed)} of ${needed.length} apps`);
    const rendered = folders.includes('k8s') && !this.#options.testMatch;
    const kubectl = rendered ? await this.#kubectl() : undefined;
    const shown =
      folders.includes(browserFolder) && (this.#options.testMatch ?? pictures) === pictures;
    const chromium = shown ? await this.#chromium() : undefined;
    const env = {
      ...(await this.#startServices()),
      TEST_KUBECTL: kubectl,
      TEST_CHROMIUM: chromium && JSON.stringify({ ...chromium, ...serviceUser }),
    };
    const product = acceptance ? await this.#startProduct() : undefined;
    // A product that does not start fails the run, and keeps no other project from being tested.
    const testable = folders.filter(
      (folder) =>
        (!folder.startsWith('acceptance') || product) &&
        (folder !== browserFolder || chromium) &&
        (folder !== 'k8s' || kubectl),
    );
    if (testable.length > 0) await this.#jest(testable, { ...env, ...product });
    if (this.#total === 0) this.fail(new Trouble('No test was run.'));
  }

  /** @param {unknown} error */
  fail(error) {
    this.failed += 1;
    explain(error);
  }

  /** After an interruption no further step begins. */
  #refuseWhenEnded() {
    if (this.#ended) throw new Trouble('Interrupted.');
  }

  /**
   * A failed check does not stop the later ones: one run reports every fault.
   *
   * @param {string} label
   * @param {string} command
   * @param {readonly string[]} args
   */
  async #check(label, command, args) {
    this.#refuseWhenEnded();
    try {
      await step(label, async () => {
        const options = { cwd: repoRoot, timeoutMs: checkTimeoutMs };
        const { code, output, timedOut } = await run(command, args, options);
        if (timedOut)
          throw new Trouble(`${label} took more than ${checkTimeoutMs / 60_000} minutes.`);
        if (code !== 0) throw new Trouble(output.trim());
      });
    } catch (error) {
      this.fail(error);
    }
  }

  async #startServices() {
    // The passwords of the roles belong to the whole server: a given server keeps those of npm
    // start.
    const secrets = process.env.DATABASE_URL ? secretsOf(stateFolder) : generateSecrets();
    writePrivate(join(this.#folder, 'product', 'secrets.json'), JSON.stringify(secrets));
    chmodSync(join(this.#folder, 'product'), 0o711);
    const { databaseUrl, redisUrl } = await startServices({
      folder: join(this.#stores, 'services'),
      secrets,
      env: process.env,
      durable: false,
      started: (service) => this.#startedService(service),
    });
    const template = await this.#createDatabase(databaseUrl, 'template');
    await step('template database', async () => {
      const urls = databaseUrls(withDatabase(databaseUrl, template), secrets);
      await createRoles(urls.admin, secrets);
      await migrate(urls.owner);
    });
    return {
      TEST_ADMIN_DATABASE_URL: databaseUrl,
      TEST_TEMPLATE_DATABASE: template,
      TEST_OWNER_PASSWORD: secrets.ownerPassword,
      TEST_MANAGEMENT_PASSWORD: secrets.managementPassword,
      TEST_DATA_PASSWORD: secrets.dataPassword,
      TEST_ROTATION_PASSWORD: secrets.rotationPassword,
      TEST_REDIS_URL: redisUrl,
      TEST_REDIS_SERVER: JSON.stringify(await redisServerCommand()),
      TEST_POSTGRES_SERVER: JSON.stringify(postgresServerCommand()),
      TEST_BWRAP: await this.#bubblewrap(),
    };
  }

  /** In CI no level of the sandbox may be left out. */
  async #bubblewrap() {
    /** @type {import('../types.js').FoundBubblewrap} */
    let found = {};
    await step('bubblewrap', async () => {
      found = await findBubblewrap();
      if (found.command) return found.command;
      const untested = `level 3 of the sandbox is not tested: ${found.missing}`;
      if (process.env.CI) throw new Trouble(untested);
      return untested;
    });
    return found.command ?? 'none';
  }

  /** In CI the manifests may not be left out. */
  async #kubectl() {
    /** @type {Awaited<ReturnType<typeof findKubectl>>} */
    let found = {};
    await step('kubectl', async () => {
      found = await findKubectl();
      if (found.command) return found.command;
      const untested = `the manifests of k8s/ are not tested: ${found.missing}`;
      if (process.env.CI) throw new Trouble(untested);
      return untested;
    });
    return found.command;
  }

  /** In CI the pages may not be left out. */
  async #chromium() {
    /** @type {Awaited<ReturnType<typeof findChromium>>} */
    let found = {};
    await step('Chromium', async () => {
      found = await findChromium();
      if (found.program) return found.program.from;
      const untested = `nothing is tested in a browser: ${found.missing}`;
      if (process.env.CI) throw new Trouble(untested);
      return untested;
    });
    return found.program;
  }

  /** @param {import('../types.js').Service} service */
  #startedService(service) {
    this.#services.push(service);
    if (this.#ended) endNow(service);
  }

  /**
   * @param {string} databaseUrl
   * @param {string} purpose
   */
  async #createDatabase(databaseUrl, purpose) {
    const name = `glovebox_${purpose}_${randomBytes(4).toString('hex')}`;
    await createDatabase(databaseUrl, name);
    this.#databases.push({ databaseUrl, name });
    return name;
  }

  /**
   * @param {readonly string[]} folders
   * @param {NodeJS.ProcessEnv} env
   */
  async #jest(folders, env) {
    this.#refuseWhenEnded();
    const { testMatch, minutes, jestArgs, workers } = this.#options;
    const resultFile = join(this.#folder, 'jest.json');
    const [command, args] = jestCommand(folders, {
      resultFile,
      testMatch,
      workers,
      more: jestArgs,
    });
    const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
    const { code, output, timedOut } = await run(command, args, {
      cwd: repoRoot,
      env: { ...process.env, ...color, NODE_ENV: 'test', ...env },
      timeoutMs: minutes * 60_000,
      onOutput: (text, end) => {
        process.stdout.write(text);
        // Jest may never end by itself.
        if (lingers(text)) setTimeout(end, lingeringMs).unref();
      },
    });
    if (timedOut) console.log(`Jest was ended after ${minutes} minutes`);
    const strict = !testMatch && jestArgs.length === 0;
    const { passed, failed, total } = jestCounts({ resultFile, code, output, timedOut, strict });
    this.passed += passed;
    this.failed += failed;
    this.#total += total;
  }

  /** The facts of the product that tests need; undefined if it did not start. */
  async #startProduct() {
    this.#refuseWhenEnded();
    const folder = join(this.#folder, 'product');
    /** @type {NodeJS.ProcessEnv} */
    const productEnv = {
      ...process.env,
      GLOVEBOX_DIR: folder,
      GATEWAY_PORT: '0',
      MANAGEMENT_PORT: '0',
      CONSOLE_PORT: '0',
      ...{ SANDBOX_INSPECT: 'true', SANDBOX_INSPECT_PORT: '0' },
      // Debug lines must not hold secrets either.
      LOG_LEVEL: 'debug',
      ACCESS_LOG: 'true',
    };
    // The tests receive on ports of their own.
    productEnv.EGRESS_ALLOW = [process.env.EGRESS_ALLOW, '127.0.0.1:*'].filter(Boolean).join(',');
    if (process.env.DATABASE_URL) {
      const name = await this.#createDatabase(process.env.DATABASE_URL, 'acceptance');
      productEnv.DATABASE_URL = withDatabase(process.env.DATABASE_URL, name);
    }
    this.#acceptance = productEnv;
    try {
      await step('product for acceptance', async () => {
        const start = [tool('start.mjs'), '--detach'];
        const { code, output } = await run(process.execPath, start, { env: productEnv });
        if (code !== 0) throw new Trouble(`npm start failed:\n${output.trim()}`);
      });
    } catch (error) {
      if (!this.#ended) this.fail(error);
      return undefined;
    }
    return { ACCEPTANCE_DEV_JSON: devFile(folder) };
  }

  /**
   * Ends everything that the run started. A process that is still alive after that is a failure.
   */
  async end() {
    if (this.#ended) return;
    this.#ended = true;
    await endPassing();
    this.#children.stop();
    if (this.#acceptance) await this.#stopProduct();
    await this.#dropDatabases();
    for (const service of this.#services.toReversed()) {
      await stopService(service, { signal: service.name === 'postgres' ? 'SIGINT' : 'SIGTERM' });
    }
    await this.#failOnLeftovers();
    const mine = [join(this.#folder, 'product'), join(this.#stores, 'services')].flatMap(
      possibleFolders,
    );
    for (const folder of [...mine, this.#folder, this.#stores]) {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async #stopProduct() {
    const { code, output } = await run(process.execPath, [tool('stop.mjs')], {
      env: this.#acceptance,
    });
    if (code !== 0) this.fail(new Trouble(`npm stop failed:\n${output.trim()}`));
  }

  /** Drops databases only on a server that outlives the run. */
  async #dropDatabases() {
    if (!process.env.DATABASE_URL) return;
    for (const { databaseUrl, name } of this.#databases) {
      await query(databaseUrl, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    }
  }

  async #failOnLeftovers() {
    await waitUntilGone(this.#children.alive(), 5000);
    const left = this.#children.alive();
    if (left.length === 0) return;
    const lines = left.map(({ pid }) => `  ${pid} ${commandLine(pid)}`);
    left.forEach(endNow);
    this.fail(new Trouble(`Processes were left behind (ended now):\n${lines.join('\n')}`));
  }
}
