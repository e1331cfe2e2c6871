import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { remindOfRuns, runQueue } from '@glovebox/runs';
import { waitFor } from '@glovebox/testing';
import { startSpecWorker, type SpecWorker } from './spec-worker';
import { startConsumer } from './consumer';

let spec: SpecWorker;
let redis: Redis;
let queue: Queue;
let woken: unknown[];
let consumer: Awaited<ReturnType<typeof startConsumer>>;

beforeAll(async () => {
  spec = await startSpecWorker({ LOG_LEVEL: 'silent' });
  redis = new Redis(spec.redis.url);
  queue = new Queue(runQueue.name, {
    connection: redis,
    prefix: runQueue.prefix,
    defaultJobOptions: runQueue.options,
  });
});
afterAll(async () => {
  await queue.close();
  redis.disconnect();
  await spec.close();
});
beforeEach(async () => {
  woken = [];
  consumer = await startConsumer(spec.ctx, { wake: (tenantId) => void woken.push(tenantId) });
});
afterEach(() => consumer.stop());

const key = (name: string): string => `${runQueue.prefix}:${runQueue.name}:${name}`;

/** A reminder behind all others arrives, so those were taken. */
async function expectNext(): Promise<void> {
  const tenantId = randomUUID();
  await remindOfRuns(queue, tenantId);
  await waitFor(() => woken.includes(tenantId));
  expect(woken).toEqual([tenantId]);
}

describe('a reminder that no gateway added', () => {
  it.each<[string, unknown]>([
    ['names nobody', {}],
    ['is null', null],
    ['is a text', 'tenant'],
    ['is a list', [randomUUID()]],
    ['names a run', { runId: randomUUID() }],
    ['names a tenant by a number', { tenantId: 7 }],
    ['names a tenant by an object', { tenantId: { id: randomUUID() } }],
    ['names a tenant by a text that is no id', { tenantId: "'; DELETE FROM reactor_runs" }],
    ['names a tenant by a mebibyte', { tenantId: 'a'.repeat(1_048_576) }],
  ])('wakes nobody when it %s, and leaves Redis', async (_, data) => {
    await queue.add('due', data);
    await expectNext();
    await waitFor(async () => (await queue.getActiveCount()) === 0);
    expect([await queue.getWaitingCount(), await queue.getFailedCount()]).toEqual([0, 0]);
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['has no data', (id) => redis.hset(key(id), { name: 'due', timestamp: '1' })],
    [
      'has data that is no JSON',
      (id) =>
        redis.hset(key(id), { name: 'due', timestamp: '1', opts: '{}', data: '{"tenantId":' }),
    ],
    ['has options that are no JSON', (id) => redis.hset(key(id), { data: '{}', opts: '{' })],
    ['does not exist', () => Promise.resolve()],
  ])('does not keep others from being taken when it %s', async (_, write) => {
    const id = randomUUID();
    await write(id);
    await redis.lpush(key('wait'), id);
    await redis.zadd(key('marker'), 0, '0');
    await expectNext();
  });
});
