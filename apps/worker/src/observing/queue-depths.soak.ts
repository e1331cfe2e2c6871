import { randomUUID } from 'node:crypto';
import { countedRowsMax, depthOf, type QueueName } from '@glovebox/runs';
import { startSpecWorker, type SpecWorker } from '../spec-worker';

let worker: SpecWorker;

beforeAll(async () => {
  worker = await startSpecWorker();
});
afterAll(() => worker.close());

const rows = 1_000_000;
const tenants = 100;
/** No statement meets its time limit on a busy machine. */
const partRows = 10_000;
/** Inserts rows of each tenant ($1), of which a share ($2) is due. */
const insertions: Readonly<Record<QueueName, (due: string, rowsOfTenants: string) => string>> = {
  runs: (due, rowsOfTenants) =>
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at, due_at)
     SELECT gen_random_uuid(), t, t, t, 'pending', '', '', 1, '', now(), ${due} ${rowsOfTenants}`,
  deliveries: (due, rowsOfTenants) =>
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, receiver, body,
       status, next_attempt_at, created_at)
     SELECT gen_random_uuid(), t, t, '', '', '', '', 'pending', ${due}, now() ${rowsOfTenants}`,
};

async function fill(queue: QueueName, dueShare: number): Promise<void> {
  const ids = Array.from({ length: tenants }, () => randomUUID());
  const insertion = insertions[queue](
    `now() + CASE WHEN nth % 100 < $2 THEN -1 ELSE 1 END * interval '1 hour'`,
    `FROM generate_series($3::int, $3::int + ${partRows - 1}) nth,
       LATERAL (SELECT ($1::uuid[])[1 + nth / 100 % ${tenants}] AS t) tenant`,
  );
  for (let from = 0; from < rows; from += partRows) {
    await worker.admin.query(insertion, [ids, dueShare, from]);
  }
}

it.each([
  ['runs', 0],
  ['runs', 50],
  ['deliveries', 0],
  ['deliveries', 50],
] as const)(
  'the depth of %s with 1,000,000 rows, %d %% of them due, is read in 200 ms',
  async (queue, dueShare) => {
    await worker.admin.query('TRUNCATE reactor_runs, webhook_deliveries');
    await fill(queue, dueShare);
    const times: number[] = [];
    for (let nth = 0; nth < 20; nth += 1) {
      const begun = performance.now();
      const depth = await depthOf(worker.ctx.database, queue);
      times.push(performance.now() - begun);
      expect(depth.later).toBe(countedRowsMax);
    }
    const median = times.sort((a, b) => a - b)[times.length >> 1] ?? Infinity;
    process.stdout.write(`${queue}, ${dueShare} % due: median ${median.toFixed(1)} ms\n`);
    expect(median).toBeLessThan(200);
  },
  600_000,
);
