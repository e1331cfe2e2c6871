import { faultsMax } from '@glovebox/runs';
import { createRegistry } from '@glovebox/service-host';
import type { RunOutcome } from '@glovebox/sandbox';
import { waitFor } from '@glovebox/testing';
import { startSpecWorker, type SpecWorker } from './spec-worker';
import { startWorker } from './worker';
import { startSpecRuns, type SpecRuns } from './spec-runs';

const poisoned = 40;

let spec: SpecWorker;
let runs: SpecRuns;
let others: SpecRuns;
let worker: { stop(): Promise<void> };

beforeAll(async () => {
  spec = await startSpecWorker({ LOG_LEVEL: 'silent' });
  [runs, others] = [await startSpecRuns(spec), await startSpecRuns(spec)];
});
afterAll(() => spec.close());
afterEach(() => worker.stop());

async function start(): Promise<void> {
  const run = (): Promise<RunOutcome> => Promise.resolve({ kind: 'returned', value: { raw: {} } });
  const runner = { ...spec.ctx.runner, run };
  worker = await startWorker({ ...spec.ctx, runner, registry: createRegistry('worker') });
}

it('40 runs that do not open hold up no other run, and are given up after five faults each', async () => {
  for (let nth = 0; nth < poisoned; nth += 1) await runs.accept();
  await spec.ctx.database.query(`UPDATE reactor_runs SET arguments = 'broken'`);
  const own = await runs.accept();
  const other = await others.accept();
  await start();
  await waitFor(async () => (await others.row(other)).status === 'completed', { timeoutMs: 2_000 });
  // A pause for each run that does not open would add up to more.
  await waitFor(async () => (await runs.row(own)).status === 'completed', { timeoutMs: 5_000 });

  const ended = () =>
    spec.admin.query(
      `SELECT status, outcome, attempt, count(*)::int FROM ended_runs
       WHERE outcome <> 'completed' GROUP BY 1, 2, 3`,
    );
  const recorded = {
    status: 'failed',
    outcome: 'internal_error',
    attempt: faultsMax + 1,
    count: poisoned,
  };
  const rest = () => spec.admin.query('SELECT 1 FROM reactor_runs');
  await waitFor(async () => (await rest()).length === 0, { timeoutMs: 20_000 });
  expect(await ended()).toEqual([recorded]);
});
