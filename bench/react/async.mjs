import { check } from '../lib/checks.mjs';
import { bandOf, percentile } from '../lib/figures.cjs';
import { ratioOf, takeTurns } from '../lib/turns.mjs';
import { open, requestOf } from './calls-of-turn.mjs';
import { queueNames, startQueues } from './queues.mjs';
import { now, startReceiver } from './receiver.mjs';
import { createReactor } from './setting.mjs';

/** @typedef {Awaited<ReturnType<typeof startReceiver>>} Receiver */

const callers = 8;
/** Runs of one turn. At most 1,000 can be replayed by one request. */
const runsOfTurn = 500;
/** A job takes less time than a run: a turn needs more of them. */
const jobsOfTurn = 2_000;
const lonelyRuns = 200;
/** Runs and webhooks of a turn are many: fewer turns than elsewhere. */
const warmUpTurns = 2;

const telling =
  'module.exports = async () => ({ raw: { startedAt: performance.timeOrigin + performance.now() } });';

/**
 * Async runs and their webhooks, against jobs of other queues that do nothing (P13). A queue on
 * Postgres keeps its jobs when Redis is lost, as the product does; BullMQ is there for information.
 *
 * @param {import('../types.js').ReactSetting} setting
 * @returns {Promise<import('../types.js').Check[]>}
 */
export async function measureAsync(setting) {
  const { dev, timing } = setting;
  const reactor = await createReactor(setting, telling);
  const receiver = await startReceiver();
  const queues = await startQueues(setting);
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
    takeTurns({ target, peer: () => queues.work(jobsOfTurn) }, { ...timing, warmUpTurns }, (side) =>
      side(),
    );
  try {
    const runs = await compare(run);
    const webhooks = await compare(replay);
    const { started, delivered } = await timeAlone(dev, requests, receiver);
    return [
      ...againstQueues('webhooks per second', webhooks, 0.5),
      ...againstQueues('runs per second, accepted to delivered', runs, 0.08),
      check('P13', 'webhooks per second', bandOfTarget(webhooks)),
      check('P13', 'runs per second, accepted to delivered', bandOfTarget(runs)),
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
    await queues.close();
  }
}

/**
 * One row for each queue. The bound is that of pg-boss.
 *
 * @param {string} what
 * @param {readonly import('../types.js').Round[]} rounds
 * @param {number} bound
 */
const againstQueues = (what, rounds, bound) =>
  queueNames.map((queue) => {
    const against = rounds.map(({ target, peer }) => ({
      target,
      peer: { perSecond: peer[queue] ?? NaN },
    }));
    const wanted = /** @type {const} */ (['≥', bound]);
    return check(
      'P13',
      `${what} / no-op jobs of ${queue}`,
      ratioOf(against, 'perSecond'),
      queue === 'pg-boss' ? wanted : undefined,
      ' ×',
    );
  });

/** @param {readonly import('../types.js').Round[]} rounds */
const bandOfTarget = (rounds) => bandOf(rounds.map(({ target }) => target['perSecond'] ?? NaN));

/**
 * Lets a turn's runs be accepted, and waits for all webhooks.
 *
 * @param {import('../../tools/lib/types.js').Dev} dev
 * @param {readonly string[]} requests
 * @param {Receiver} receiver
 */
export async function runAll({ baseUrl }, requests, receiver) {
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
