import { createHash } from 'node:crypto';
import { codeIdOf, codePlace } from '@glovebox/runs';
import { startRunner } from '@glovebox/testing';
import { executeRun } from './execute-run';
import { startSpecRuns, type SpecRuns } from './spec-runs';
import { startSpecWorker, type SpecWorker } from './spec-worker';

let runner: Awaited<ReturnType<typeof startRunner>>;
let worker: SpecWorker;
let runs: SpecRuns;

beforeAll(async () => {
  runner = await startRunner();
  worker = await startSpecWorker({
    ...{ RUNNER_URLS: runner.url, RUNNER_SECRET: runner.secret },
    LOG_LEVEL: 'silent',
  });
  runs = await startSpecRuns(worker);
});
afterAll(async () => {
  await worker.close();
  await runner.stop();
});

const code = `module.exports = ({ args }) => ({ raw: { sum: args.a + 1 } }); //`.padEnd(
  1024 * 1024,
  'x',
);
const hash = createHash('sha256').update(code).digest('hex');

it('an async run whose bundle cannot be read is given back, and runs once it can', async () => {
  const { tenantId } = runs;
  await worker.define({ ...runs.formula, code: '', codeHash: hash, bundleHash: hash });
  const claimed = await runs.claimNew({ a: 1 });
  await executeRun(worker.ctx, claimed);
  expect(await runs.row(claimed.id)).toMatchObject({ status: 'pending', isStarted: false });

  const id = codeIdOf(hash) ?? '';
  await worker.admin.query(
    `INSERT INTO code_texts (tenant_id, id, text, last_in_force_at) VALUES ($1, $2, $3, now())`,
    [tenantId, id, await worker.ctx.sealer.seal(codePlace(tenantId, id), code)],
  );
  await runs.set(claimed.id, 'due_at = now()');
  const again = await runs.claim();
  expect(again.id).toBe(claimed.id);
  await executeRun(worker.ctx, again);
  expect(await runs.webhooks(claimed.id)).toEqual([{ raw: { sum: 2 } }]);
});
