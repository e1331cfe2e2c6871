import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { fetchRuntime, runtimeFolder } from '../../tools/lib/install.mjs';
import { pin } from '../lib/processes.mjs';

/** @typedef {{ work(count: number): Promise<number>, close(): Promise<void> }} Jobs */

const concurrency = 50;
const database = 'bench_queues';

/** @param {string} path */
const peer = (path) => fileURLToPath(new URL(`../peers/${path}`, import.meta.url));

/** The queues that P13 is compared with, each with the product's own store. */
export const queueNames = /** @type {const} */ (['pg-boss', 'graphile-worker', 'BullMQ']);

/**
 * Starts a worker of each queue on the product's core. Its jobs do nothing.
 *
 * @param {import('../types.js').ReactSetting} setting
 */
export async function startQueues(setting) {
  const url = await makeDatabase(setting);
  /** @type {Readonly<Record<string, Jobs>>} */
  const queues = {
    'pg-boss': await startOnPostgres(setting, 'pg-boss', url),
    'graphile-worker': await startOnPostgres(setting, 'graphile-worker', url),
    BullMQ: await startBullMq(setting),
  };
  return {
    /**
     * Jobs per second by queue, one queue after the other.
     *
     * @param {number} count
     * @returns {Promise<import('../types.js').Figures>}
     */
    async work(count) {
      /** @type {Record<string, number>} */
      const perSecond = {};
      for (const [name, queue] of Object.entries(queues)) perSecond[name] = await queue.work(count);
      return perSecond;
    },
    async close() {
      await Promise.all(Object.values(queues).map((queue) => queue.close()));
      await ask(setting, `DROP DATABASE ${database}`);
    },
  };
}

/**
 * Makes a database beside the product's, on the same server.
 *
 * @param {import('../types.js').ReactSetting} setting
 */
async function makeDatabase(setting) {
  await ask(setting, `DROP DATABASE IF EXISTS ${database}`);
  await ask(setting, `CREATE DATABASE ${database}`);
  const url = new URL(setting.dev.databaseUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/**
 * @param {import('../types.js').ReactSetting} setting
 * @param {string} statement
 */
async function ask({ dev }, statement) {
  const client = new pg.Client(dev.databaseUrl);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/**
 * @param {import('../types.js').ReactSetting} setting
 * @param {'pg-boss' | 'graphile-worker'} name
 * @param {string} url
 * @returns {Promise<Jobs>}
 */
async function startOnPostgres(setting, name, url) {
  // Both need Node 22 or later.
  const runtime = runtimeFolder('node24');
  await fetchRuntime(runtime);
  // npm writes this file as its last act.
  if (!existsSync(peer('queues/node_modules/.package-lock.json'))) {
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit'], { cwd: peer('queues') });
  }
  const node = join(runtime, 'node_modules', process.arch, 'bin', 'node');
  const args = [peer('queues/no-op-jobs.mjs'), name, url, String(concurrency)];
  const worker = await startWorker(setting, node, args);
  return {
    async work(count) {
      worker.child.send(count);
      return worker.perSecond();
    },
    close: worker.close,
  };
}

/**
 * @param {import('../types.js').ReactSetting} setting
 * @returns {Promise<Jobs>}
 */
async function startBullMq(setting) {
  const { redisUrl } = setting.dev;
  const name = 'bench-no-op';
  const args = [peer('no-op-jobs.cjs'), redisUrl, name, String(concurrency)];
  const worker = await startWorker(setting, process.execPath, args);
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue(name, { connection });
  return {
    async work(count) {
      worker.child.send(count);
      await once(worker.child, 'message');
      const done = worker.perSecond();
      await queue.addBulk(Array.from({ length: count }, () => ({ name: 'nothing', data: {} })));
      return done;
    },
    async close() {
      await worker.close();
      await queue.close();
      connection.disconnect();
    },
  };
}

/**
 * Resolves when the worker says that it is ready.
 *
 * @param {import('../types.js').ReactSetting} setting
 * @param {string} command
 * @param {readonly string[]} args
 */
async function startWorker({ children }, command, args) {
  const child = children.start(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await told(child);
  pin(child.pid ?? 0, 0);
  return {
    child,
    /** @returns {Promise<number>} */
    perSecond: async () => (await told(child)).perSecond,
    close: () => children.end(child),
  };
}

/**
 * The next message of the worker. One that ends without a word makes the measurement void.
 *
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<any>}
 */
const told = (child) =>
  new Promise((resolve, reject) => {
    const ended = () => reject(new Error('A worker of the peers has ended'));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
