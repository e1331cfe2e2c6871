// A worker of a queue on Postgres whose jobs do nothing. For each count that its parent sends, it
// adds so many jobs, does them, and tells how many it did in a second. It needs Node 22 or later:
// node bench/peers/queues/no-op-jobs.mjs pg-boss|graphile-worker DATABASE_URL CONCURRENCY
import { PgBoss } from 'pg-boss';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';

const [, , peer, connectionString, concurrency] = process.argv;
const batch = Number(concurrency);
const connections = 20;
const name = 'nothing';
const peers = { 'pg-boss': startPgBoss, 'graphile-worker': startGraphileWorker };

/** Fetches a batch and completes it with one statement each, as its `work` does without pauses. */
async function startPgBoss() {
  const fetchers = 4;
  const boss = new PgBoss({ connectionString, max: connections });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(name);
  return async (count) => {
    await boss.insert(
      name,
      Array.from({ length: count }, () => ({ data: {} })),
    );
    let done = 0;
    const begunAt = performance.now();
    const work = async () => {
      for (;;) {
        const jobs = await boss.fetch(name, { batchSize: batch });
        if (jobs.length === 0) return;
        await boss.complete(
          name,
          jobs.map(({ id }) => id),
        );
        done += jobs.length;
      }
    };
    await Promise.all(Array.from({ length: fetchers }, work));
    if (done !== count) throw new Error(`${done} of ${count} jobs were done`);
    return (count * 1_000) / (performance.now() - begunAt);
  };
}

/** Its settings are its own but for the number of jobs at once and of connections. */
async function startGraphileWorker() {
  const logger = new Logger(() => () => undefined);
  const utils = await makeWorkerUtils({ connectionString, logger });
  await utils.migrate();
  return async (count) => {
    await utils.addJobs(Array.from({ length: count }, () => ({ identifier: name, payload: {} })));
    let done = 0;
    let firstAt = 0;
    let tellDone;
    const allDone = new Promise((resolve) => (tellDone = resolve));
    const nothing = async () => {
      done += 1;
      if (done === 1) firstAt = performance.now();
      if (done === count) tellDone();
    };
    const runner = await run({
      ...{ connectionString, logger, concurrency: batch, maxPoolSize: connections },
      ...{ noHandleSignals: true, taskList: { [name]: nothing } },
    });
    await allDone;
    const tookMs = performance.now() - firstAt;
    await runner.stop();
    return ((count - 1) * 1_000) / tookMs;
  };
}

const work = await peers[peer]();
process.on('message', async (count) => process.send({ perSecond: await work(count) }));
process.on('disconnect', () => process.exit());
process.send('ready');
