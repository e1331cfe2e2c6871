// A worker of BullMQ whose jobs do nothing. For each count that its parent sends, it waits for so
// many jobs and tells how many it did in a second:
// node bench/peers/no-op-jobs.cjs REDIS_URL QUEUE CONCURRENCY
const { Worker } = require('bullmq');
const { Redis } = require('ioredis');

const [, , url, queue, concurrency] = process.argv;

let wanted = 0;
let done = 0;
let firstAt = 0;

const worker = new Worker(queue, async () => undefined, {
  connection: new Redis(url, { maxRetriesPerRequest: null }),
  concurrency: Number(concurrency),
  removeOnComplete: { count: 0 },
});
worker.on('completed', () => {
  done += 1;
  if (done === 1) firstAt = performance.now();
  if (done === wanted) {
    process.send({ perSecond: ((done - 1) * 1_000) / (performance.now() - firstAt) });
  }
});
process.on('message', (count) => {
  wanted = count;
  done = 0;
  process.send('counting');
});
process.on('disconnect', () => process.exit());
void worker.waitUntilReady().then(() => process.send('ready'));
