import { randomUUID } from 'node:crypto';
import { countedRowsMax, depthOf } from '@glovebox/runs';
import { createRegistry } from '@glovebox/service-host';
import { explaining } from '../spec-plans';
import { startSpecWorker, type SpecWorker } from '../spec-worker';
import { observeQueueDepths } from './queue-depths';

let worker: SpecWorker;

beforeAll(async () => {
  worker = await startSpecWorker();
});
afterAll(() => worker.close());
beforeEach(async () => {
  await worker.ctx.database.query('DELETE FROM reactor_runs');
  await worker.ctx.database.query('DELETE FROM webhook_deliveries');
});

const tenants = Array.from({ length: 3 }, () => randomUUID());

const runs = (tenantId: string | undefined, count: number, due: string, status = 'pending') =>
  worker.admin.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at, due_at)
     SELECT gen_random_uuid(), $1, $1, $1, $2, '', '', 10000, 'trace', now(),
       now() + $3::interval FROM generate_series(1, $4)`,
    [tenantId, status, due, count],
  );

const webhooks = (tenantId: string | undefined, count: number, due: string, isHeld = false) =>
  worker.admin.query(
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, receiver,
       body, status, next_attempt_at, created_at, place)
     SELECT gen_random_uuid(), $1, $1, '', '', $3, '', 'pending', now() + $2::interval, now(),
       CASE WHEN $5 THEN nth END FROM generate_series(1, $4::int) nth`,
    [tenantId, due, due, count, isHeld],
  );

it('the depth of a queue counts what is due and what waits, of all tenants, without what is under way', async () => {
  const none = { due: 0, later: 0, held: 0, oldestDueSeconds: 0 };
  expect(await depthOf(worker.ctx.database, 'runs')).toEqual(none);
  await runs(tenants[0], 3, '-90 seconds');
  await runs(tenants[1], 2, '-10 seconds');
  await runs(tenants[1], 4, '1 minute');
  await runs(tenants[2], 5, '1 hour');
  await runs(tenants[2], 6, '-1 hour', 'running');
  const depth = await depthOf(worker.ctx.database, 'runs');
  expect(depth).toMatchObject({ due: 5, later: 9 });
  expect(depth.oldestDueSeconds).toBeGreaterThanOrEqual(90);
  expect(depth.oldestDueSeconds).toBeLessThan(150);

  await webhooks(tenants[0], 2, '-1 second');
  await webhooks(tenants[0], 7, '30 seconds', true);
  await webhooks(tenants[1], 3, '9 seconds');
  expect(await depthOf(worker.ctx.database, 'deliveries')).toMatchObject({
    due: 2,
    later: 3,
  });
});

it.each(['-1 hour', '1 hour'])(
  'the depth of a queue costs no more rows than it counts, although 30,000 more wait: due in %s',
  async (due) => {
    // Statistics of a moment in which little waited.
    await runs(tenants[0], 10, due);
    await webhooks(tenants[0], 10, due);
    await worker.admin.query('VACUUM ANALYZE reactor_runs, webhook_deliveries');
    for (let part = 0; part < 4; part += 1) {
      await runs(tenants[part % 2], 10_000, due);
      await webhooks(tenants[part % 2], 10_000, due);
    }
    for (const queue of ['runs', 'deliveries'] as const) {
      for (const isAnalyzed of [false, true]) {
        if (isAnalyzed) await worker.admin.query('ANALYZE reactor_runs, webhook_deliveries');
        const read: number[] = [];
        const sql = explaining(worker.ctx.database, (rows) => read.push(rows));
        const depth = await depthOf(sql, queue);
        expect(depth.due + depth.later).toBe(countedRowsMax);
        expect(read[0]).toBeLessThan(countedRowsMax + 100);
      }
    }
  },
);

it('the depths are read once, however often somebody looks, and are not shown while they are unknown', async () => {
  await runs(tenants[0], 3, '-90 seconds');
  let reads = 0;
  const registry = createRegistry('worker');
  observeQueueDepths(registry, {
    query(statement, values) {
      reads += 1;
      return worker.ctx.database.query(statement, values);
    },
  });
  const pages = [
    await registry.metrics(),
    ...(await Promise.all([1, 2].map(() => registry.metrics()))),
  ];
  for (const page of pages) {
    expect(page).toContain('glovebox_worker_queue_rows{queue="runs",state="due",app="worker"} 3\n');
    expect(page).toContain(
      'glovebox_worker_queue_rows{queue="deliveries",state="due",app="worker"} 0\n',
    );
    expect(page).toMatch(
      /glovebox_worker_queue_oldest_due_seconds\{queue="runs",app="worker"\} 9\d/,
    );
  }
  expect(reads).toBe(2);

  const away = createRegistry('worker');
  observeQueueDepths(away, { query: () => Promise.reject(new Error('away')) });
  const page = await away.metrics();
  expect(page).toContain('process_cpu_seconds_total');
  expect(page).not.toContain('glovebox_worker_queue_rows{');
});
