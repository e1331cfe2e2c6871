import { claimDelivery, faultsMax, webhookPlace, type ClaimedDelivery } from '@glovebox/runs';
import { startDestination, type Destination } from '@glovebox/testing';
import { deliverWebhook } from '../deliver-webhook';
import { executeRun } from '../execute-run';
import { startSpecRuns, type SpecRuns } from '../spec-runs';
import { startSpecWorker, type SpecWorker } from '../spec-worker';
import { sweep } from '../worker';

let worker: SpecWorker;
let runs: SpecRuns;
let receiver: Destination;
let status = 200;

beforeAll(async () => {
  worker = await startSpecWorker({ LOG_LEVEL: 'silent' });
  runs = await startSpecRuns(worker);
  receiver = await startDestination((_request, response) => {
    response.writeHead(status).end();
  });
});
afterAll(async () => {
  await receiver.close();
  await worker.close();
});

beforeEach(async () => {
  await worker.ctx.database.query('DELETE FROM reactor_runs');
  await worker.ctx.database.query('DELETE FROM webhook_deliveries');
  worker.ctx.registry.resetMetrics();
  status = 200;
});

/** The samples of a metric that are not zero, by their labels. */
async function samplesOf(name: string): Promise<Record<string, number>> {
  const page = await worker.ctx.registry.metrics();
  const lines = page.split('\n').filter((line) => line.startsWith(`${name}{`));
  const samples = lines.map((line): [string, number] => {
    const [, labels = '', value = ''] = /\{(.*)\} (.*)$/.exec(line) ?? [];
    const own = labels.split(',').filter((label) => label !== 'app="worker"');
    return [own.join(), Number(value)];
  });
  return Object.fromEntries(samples.filter(([, value]) => value !== 0));
}

const sweepOnce = () =>
  sweep(worker.ctx, { runs: { wake: () => undefined }, deliveries: { wake: () => undefined } });

const unknownReactor = { reactorId: '00000000-0000-4000-8000-000000000000' };

/** Ends a run without its code: its reactor is gone. */
async function endOne(): Promise<void> {
  const run = await runs.claimNew({}, unknownReactor);
  expect(await executeRun(worker.ctx, run)).toBe('done');
}

/** Claims the webhook of a run that has ended, whose callback URL is the receiver's. */
async function claimWebhook(): Promise<ClaimedDelivery> {
  await endOne();
  const { database, sealer } = worker.ctx;
  const claimed = await claimDelivery(database, runs.tenantId);
  if (claimed === undefined || claimed === 'full') throw new Error('nothing was due');
  const place = webhookPlace(runs.tenantId, claimed.id, 'callback_url');
  return { ...claimed, callbackUrl: await sealer.seal(place, `${receiver.url}/hook`) };
}

it('a run is counted by its outcome, with its duration and its time in the queue', async () => {
  const run = await runs.claimNew({}, unknownReactor);
  const createdAt = new Date(Date.now() - 3_000);
  expect(await executeRun(worker.ctx, { ...run, createdAt })).toBe('done');
  expect(await samplesOf('glovebox_worker_runs_total')).toEqual({ 'outcome="not_found"': 1 });
  expect(await samplesOf('glovebox_worker_run_seconds_count')).toEqual({ '': 1 });
  const { '': queued = 0 } = await samplesOf('glovebox_worker_run_queued_seconds_sum');
  expect(queued).toBeGreaterThanOrEqual(3);
  expect(queued).toBeLessThan(30);
});

it('a run that finds no runner is counted as released', async () => {
  const run = await runs.claimNew();
  expect(await executeRun(worker.ctx, run)).toBe('later');
  expect(await samplesOf('glovebox_worker_runs_released_total')).toEqual({ 'reason="later"': 1 });
  expect(await samplesOf('glovebox_worker_runs_total')).toEqual({});
});

it('a run that does not open is counted as released, and after five faults as ended', async () => {
  const run = { ...(await runs.claimNew()), args: Buffer.from('broken') };
  await executeRun(worker.ctx, run);
  expect(await samplesOf('glovebox_worker_runs_released_total')).toEqual({ 'reason="fault"': 1 });
  expect(await samplesOf('glovebox_worker_runs_total')).toEqual({});
  await runs.set(run.id, 'due_at = now()');
  await executeRun(worker.ctx, { ...(await runs.claim()), args: run.args, faults: faultsMax });
  expect(await samplesOf('glovebox_worker_runs_total')).toEqual({ 'outcome="internal_error"': 1 });
});

it('a run that another worker has claimed is counted as fenced off, not as ended', async () => {
  const run = await runs.claimNew();
  await runs.set(run.id, 'fence = fence + 1');
  expect(await executeRun(worker.ctx, run)).toBe('done');
  expect(await samplesOf('glovebox_worker_fenced_total')).toEqual({ 'queue="runs"': 1 });
  expect(await samplesOf('glovebox_worker_runs_total')).toEqual({});
});

it('a webhook is counted by attempts and by its end, with the time since its run was accepted', async () => {
  const claimed = await claimWebhook();
  await deliverWebhook(worker.ctx, claimed);
  expect(await samplesOf('glovebox_worker_delivery_attempt_seconds_count')).toEqual({
    'outcome="delivered"': 1,
  });
  expect(await samplesOf('glovebox_worker_deliveries_total')).toEqual({
    'status="delivered",outcome="delivered"': 1,
  });
  expect(await samplesOf('glovebox_worker_delivery_seconds_count')).toEqual({ '': 1 });
  const { '': seconds = 0 } = await samplesOf('glovebox_worker_delivery_seconds_sum');
  expect(seconds).toBeLessThan(30);
});

it('an attempt that is to be repeated ends no webhook, and a 410 ends one', async () => {
  status = 500;
  await deliverWebhook(worker.ctx, await claimWebhook());
  expect(await samplesOf('glovebox_worker_deliveries_total')).toEqual({});
  await worker.ctx.database.query('DELETE FROM webhook_deliveries');
  status = 410;
  await deliverWebhook(worker.ctx, await claimWebhook());
  expect(await samplesOf('glovebox_worker_deliveries_total')).toEqual({
    'status="failed",outcome="rejected"': 1,
  });
  expect(await samplesOf('glovebox_worker_delivery_attempt_seconds_count')).toEqual({
    'outcome="rejected"': 2,
  });
  expect(await samplesOf('glovebox_worker_delivery_seconds_count')).toEqual({});
});

it('a webhook that is sent again is not counted with the time since its run was accepted', async () => {
  const claimed = await claimWebhook();
  await deliverWebhook(worker.ctx, { ...claimed, isReplay: true });
  expect(await samplesOf('glovebox_worker_deliveries_total')).toEqual({
    'status="delivered",outcome="delivered"': 1,
  });
  expect(await samplesOf('glovebox_worker_delivery_seconds_count')).toEqual({});
});

it('a webhook that another worker has claimed is counted as fenced off', async () => {
  const claimed = await claimWebhook();
  await worker.ctx.database.query('UPDATE webhook_deliveries SET fence = fence + 1');
  await deliverWebhook(worker.ctx, claimed);
  expect(await samplesOf('glovebox_worker_fenced_total')).toEqual({ 'queue="deliveries"': 1 });
  expect(await samplesOf('glovebox_worker_delivery_attempt_seconds_count')).toEqual({});
});

it('runs and places of silent workers are counted when they are taken back', async () => {
  await claimWebhook();
  const run = await runs.claimNew();
  await sweepOnce();
  expect(await samplesOf('glovebox_worker_taken_back_total')).toEqual({});
  await runs.set(run.id, `lease_until = now() - interval '1 second'`);
  await worker.ctx.database.query(
    `UPDATE webhook_deliveries SET place_until = now() - interval '1 second'`,
  );
  await sweepOnce();
  expect(await samplesOf('glovebox_worker_taken_back_total')).toEqual({
    'queue="runs"': 1,
    'queue="deliveries"': 1,
  });
});
