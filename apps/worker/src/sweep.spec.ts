import { createRegistry } from '@glovebox/service-host';
import type { RunOutcome } from '@glovebox/sandbox';
import { waitFor } from '@glovebox/testing';
import { startSpecRuns, type SpecRuns } from './spec-runs';
import { startSpecWorker, type SpecWorker } from './spec-worker';
import { startWorker } from './worker';

let spec: SpecWorker;
let crowded: SpecRuns;
let quiet: SpecRuns;
let worker: { stop(): Promise<void> };

beforeAll(async () => {
  spec = await startSpecWorker({ LOG_LEVEL: 'silent' });
  [crowded, quiet] = [await startSpecRuns(spec), await startSpecRuns(spec)];
});
afterAll(() => spec.close());
beforeEach(async () => {
  await spec.ctx.database.query('DELETE FROM reactor_runs');
  await spec.ctx.database.query('DELETE FROM webhook_deliveries');
  await spec.admin.query('DELETE FROM ended_runs');
});

afterEach(() => worker.stop());

/** A worker whose runner is full for one tenant. It keeps when the other one's runs started. */
async function startFullFor(full: SpecRuns) {
  const seen = { refused: 0, startedAt: [] as number[] };
  const run = ({ tenantId }: { tenantId: string }): Promise<RunOutcome> => {
    if (tenantId === full.tenantId) {
      seen.refused += 1;
      return Promise.resolve({ kind: 'no_capacity' });
    }
    seen.startedAt.push(performance.now());
    return Promise.resolve({ kind: 'returned', value: { raw: {} } });
  };
  const runner = { ...spec.ctx.runner, run };
  worker = await startWorker({ ...spec.ctx, runner, registry: createRegistry('worker') });
  return seen;
}

it('a run whose reminder was lost starts within two seconds beside 5,000 of another tenant without capacity', async () => {
  for (let nth = 0; nth < 20; nth += 1) await crowded.accept();
  await spec.ctx.database.query(`UPDATE reactor_runs SET due_at = now() - interval '1 hour'`);
  await crowded.crowd(5_000);
  const seen = await startFullFor(crowded);
  await waitFor(() => seen.refused > 0);
  for (let nth = 1; nth <= 3; nth += 1) {
    const acceptedAt = performance.now();
    await quiet.accept();
    await waitFor(() => seen.startedAt.length === nth);
    expect((seen.startedAt[nth - 1] ?? Infinity) - acceptedAt).toBeLessThan(2_000);
  }
});

it("a tenant's new run is tried before its runs without capacity are tried again", async () => {
  for (let nth = 0; nth < 8; nth += 1) await crowded.accept();
  const seen = await startFullFor(crowded);
  await waitFor(() => seen.refused > 0);
  const late = await crowded.accept();
  await waitFor(async () => (await crowded.row(late)).fence > 0, { timeoutMs: 10_000 });
  const [claims] = await spec.ctx.database.query<{ most: number }>(
    'SELECT max(fence)::int AS most FROM reactor_runs',
  );
  expect(claims?.most).toBeLessThanOrEqual(2);
});
