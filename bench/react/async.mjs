import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { check } from '../lib/checks.mjs';
import { bandOf, percentile } from '../lib/figures.cjs';
import { pin } from '../lib/processes.mjs';
import { ratioOf, takeTurns } from '../lib/turns.mjs';
import { open, requestOf } from './calls-of-turn.mjs';
import { now, startReceiver } from './receiver.mjs';
import { createReactor } from './setting.mjs';

/** @typedef {Awaited<ReturnType<typeof startReceiver>>} Receiver */

const concurrency = 50;
const callers = 8;
/** Runs of one turn. At most 1,000 can be replayed by one request. */
const runsOfTurn = 500;
const lonelyRuns = 200;
/** Runs and webhooks of a turn are many: fewer turns than elsewhere. */
const warmUpTurns = 2;

const telling =
  'module.exports = async () => ({ raw: { startedAt: performance.timeOrigin + performance.now() } });';

/**
 * Async runs and their webhooks, against jobs of BullMQ that do nothing (P13).
 *
 * @param {import('../types.js').ReactSetting} setting
 * @returns {Promise<import('../types.js').Check[]>}
 */
export async function measureAsync(setting) {
  const { dev, timing } = setting;
  const reactor = await createReactor(setting, telling);
  const receiver = await startReceiver();
  const jobs = await startJobs(setting);
  const requests = receiver.urls.map((url) =>
    requestOf(
      new URL(dev.baseUrl + reactor.path),
      reactor.headers,
      JSON.stringify({ callback_url: url }),
    ),
  );
  const run = () => runAll(dev, requests, receiver);
  const replay = () => replayAll(dev, receiver);
  /** @param {() => Promise<import('../types.js').Figures>} target */
  const compare = (target) =>
    takeTurns({ target, peer: () => jobs.work(runsOfTurn) }, { ...timing, warmUpTurns }, (side) =>
      side(),
    );
  try {
    const runs = await compare(run);
    const webhooks = await compare(replay);
    const { started, delivered } = await timeAlone(dev, requests, receiver);
    const peer = 'no-op jobs of BullMQ';
    return [
      check(
        'P13',
        `webhooks per second / ${peer}`,
        ratioOf(webhooks, 'perSecond'),
        ['≥', 0.35],
        ' ×',
      ),
      check('P13', 'webhooks per second', bandOfTarget(webhooks)),
      check('P13', 'runs per second, accepted to delivered', bandOfTarget(runs)),
      check(
        'P13',
        `runs per second, accepted to delivered / ${peer}`,
        ratioOf(runs, 'perSecond'),
        undefined,
        ' ×',
      ),
      check('P13', 'accepted to started, one run at a time, p50', started.p50, ['≤', 5], ' ms'),
      check('P13', 'accepted to started, one run at a time, p99', started.p99, undefined, ' ms'),
      check(
        'P13',
        'accepted to delivered, one run at a time, p50',
        delivered.p50,
        undefined,
        ' ms',
      ),
    ];
  } finally {
    receiver.close();
    await jobs.close();
  }
}

/** @param {readonly import('../types.js').Round[]} rounds */
const bandOfTarget = (rounds) => bandOf(rounds.map(({ target }) => target['perSecond'] ?? NaN));

/**
 * Lets a turn's runs be accepted, and waits for all webhooks.
 *
 * @param {import('../../tools/lib/types.js').Dev} dev
 * @param {readonly string[]} requests
 * @param {Receiver} receiver
 */
async function runAll({ baseUrl }, requests, receiver) {
  const begunAt = now();
  let left = runsOfTurn;
  const caller = async () => {
    const connection = await open(new URL(baseUrl));
    while (left > 0) {
      left -= 1;
      await connection.call(requests[left % requests.length] ?? '', 202);
    }
    connection.end();
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const webhooks = await receiver.next(runsOfTurn);
  return { perSecond: (runsOfTurn * 1_000) / ((webhooks.at(-1)?.at ?? NaN) - begunAt) };
}

/**
 * Lets the webhooks of a turn be sent again: their runs are over.
 *
 * @param {import('../../tools/lib/types.js').Dev} dev
 * @param {Receiver} receiver
 */
async function replayAll({ managementUrl, adminKey }, receiver) {
  const answer = await fetch(`${managementUrl}/webhook-deliveries/replay`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': adminKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ filter: { status: 'delivered' }, limit: runsOfTurn }),
  });
  const { queued } = /** @type {{ queued: number }} */ (await answer.json());
  if (queued < runsOfTurn / 2) throw new Error(`Only ${queued} webhooks are sent again`);
  const webhooks = await receiver.next(queued);
  const tookMs = (webhooks.at(-1)?.at ?? NaN) - (webhooks[0]?.at ?? NaN);
  return { perSecond: ((queued - 1) * 1_000) / tookMs };
}

/**
 * The times of runs that have the worker to themselves, from the 202 in milliseconds.
 *
 * @param {import('../../tools/lib/types.js').Dev} dev
 * @param {readonly string[]} requests
 * @param {Receiver} receiver
 */
async function timeAlone({ baseUrl }, [request = ''], receiver) {
  const connection = await open(new URL(baseUrl));
  /** @type {number[]} */
  const started = [];
  /** @type {number[]} */
  const delivered = [];
  for (let i = 0; i < lonelyRuns; i += 1) {
    await connection.call(request, 202);
    const acceptedAt = now();
    const [webhook] = await receiver.next(1);
    started.push(JSON.parse(webhook?.body ?? '').raw.startedAt - acceptedAt);
    delivered.push((webhook?.at ?? NaN) - acceptedAt);
  }
  connection.end();
  return {
    started: { p50: percentile(started, 0.5), p99: percentile(started, 0.99) },
    delivered: { p50: percentile(delivered, 0.5) },
  };
}

/**
 * The peer: a worker of BullMQ on the product's Redis, and on its core.
 *
 * @param {import('../types.js').ReactSetting} setting
 */
async function startJobs({ dev, children }) {
  const name = 'bench-no-op';
  const program = fileURLToPath(new URL('../peers/no-op-jobs.cjs', import.meta.url));
  const child = children.start(
    process.execPath,
    [program, dev.redisUrl, name, String(concurrency)],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  await once(child, 'message');
  pin(child.pid ?? 0, 0);
  const connection = new Redis(dev.redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue(name, { connection });
  return {
    /** @param {number} count */
    async work(count) {
      child.send(count);
      await once(child, 'message');
      const done = once(child, 'message');
      await queue.addBulk(Array.from({ length: count }, () => ({ name: 'nothing', data: {} })));
      const [figures] = await done;
      return /** @type {import('../types.js').Figures} */ (figures);
    },
    async close() {
      await children.end(child);
      await queue.close();
      connection.disconnect();
    },
  };
}
