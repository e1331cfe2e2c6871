import { randomUUID } from 'node:crypto';
import { readerVersion } from '@glovebox/database';
import { Problem, type ProblemCode } from '@glovebox/problems';
import {
  claimRuns,
  faultsMax,
  markStarted,
  takeBackSilentRuns,
  type ClaimedRun,
} from '@glovebox/runs';
import { startRunner, waitFor } from '@glovebox/testing';
import type { WorkerContext } from './context';
import { startSpecWorker, type SpecWorker } from './spec-worker';
import { executeRun } from './execute-run';
import { startSpecRuns, type SpecRuns } from './spec-runs';

let runner: Awaited<ReturnType<typeof startRunner>>;
let worker: SpecWorker;
let runs: SpecRuns;

beforeAll(async () => {
  runner = await startRunner();
  worker = await startSpecWorker({
    RUNNER_URLS: runner.url,
    RUNNER_SECRET: runner.secret,
    LOG_LEVEL: 'silent',
  });
  runs = await startSpecRuns(worker);
});
afterAll(async () => {
  await worker.close();
  await runner.stop();
});

beforeEach(async () => {
  await worker.ctx.database.query('DELETE FROM reactor_runs');
  await worker.ctx.database.query('DELETE FROM webhook_deliveries');
});

/** Gives the reactor of the spec other code. */
const setCode = (code: string): Promise<void> =>
  worker.define({ ...runs.formula, code, codeHash: code });

/** A worker whose definitions answer differently. The real ones are the argument. */
function contextWith(
  current: (real: WorkerContext['definitions']['follower']) => ReturnType<typeof real.current>,
): WorkerContext {
  const { follower } = worker.ctx.definitions;
  return {
    ...worker.ctx,
    definitions: {
      ...worker.ctx.definitions,
      follower: Object.assign(Object.create(follower) as typeof follower, {
        current: () => current(follower),
      }),
    },
  };
}
const refusing = (thrown: Error): WorkerContext => contextWith(() => Promise.reject(thrown));

async function claimAgain(): Promise<ClaimedRun> {
  const [run] = await claimRuns(worker.ctx.database, runs.tenantId, 1);
  if (!run) throw new Error('no run is due');
  return run;
}

/** The one webhook of a run that has ended. */
async function webhookOf({ id }: ClaimedRun): Promise<unknown> {
  const webhooks = await runs.webhooks(id);
  expect(webhooks).toHaveLength(1);
  return webhooks[0];
}

describe('a run that ends', () => {
  beforeEach(() => setCode('module.exports = ({ args }) => ({ raw: args })'));

  it('is completed with the answer of its code, and its webhook carries the answer', async () => {
    const run = await runs.claimNew({ a: 1 });
    expect(await executeRun(worker.ctx, run)).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'completed' });
    expect(await webhookOf(run)).toEqual({ raw: { a: 1 } });
  });

  it.each<[string, string, object]>([
    [
      'throws',
      `module.exports = () => { throw new Error('why') }`,
      { status: 500, code: 'reactor_error', errors: { error: ['why'] } },
    ],
    [
      'returns no object',
      'module.exports = () => 1',
      { status: 500, code: 'invalid_reactor_result' },
    ],
    ['does not compile', 'module.exports = (', { status: 422, code: 'invalid_code' }],
  ])('has failed when its code %s, and its webhook says why', async (_, code, problem) => {
    await setCode(code);
    const run = await runs.claimNew();
    expect(await executeRun(worker.ctx, run)).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'failed' });
    expect(await webhookOf(run)).toMatchObject(problem);
  });

  it.each([1, 300])('has failed when its code takes longer than %d ms', async (timeoutMs) => {
    await setCode('module.exports = () => new Promise(() => {})');
    const run = await runs.claimNew({}, { timeoutMs });
    expect(await executeRun(worker.ctx, run)).toBe('done');
    expect(await webhookOf(run)).toMatchObject({ status: 504, code: 'reactor_timeout' });
  });

  it('has failed when a store is away behind the start of its code: it is not tried again', async () => {
    await setCode(`module.exports = () => ({ tokenize: 'x' })`);
    const run = await runs.claimNew();
    const away = contextWith(async (follower) => {
      if ((await runs.row(run.id)).isStarted) throw new Problem('service_unavailable');
      return follower.current();
    });
    expect(await executeRun(away, run)).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'failed' });
    expect(await webhookOf(run)).toMatchObject({ status: 503, code: 'service_unavailable' });
  });

  it('has failed when its arguments cannot be cast, before its code starts', async () => {
    await worker.define({
      ...runs.formula,
      requestParameters: [{ name: 'count', type: 'number', optional: false }],
    });
    const run = await runs.claimNew({ count: 'many' });
    expect(await executeRun(worker.ctx, run)).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'failed' });
    expect(await webhookOf(run)).toMatchObject({
      status: 400,
      errors: { 'args.count': ['must be a number'] },
    });
  });
});

describe('a run that was accepted before', () => {
  beforeEach(() => setCode('module.exports = () => ({ raw: 1 })'));
  afterEach(() => worker.define(runs.application));

  it.each<[string, number, ProblemCode, () => Promise<void>]>([
    [
      'the application has no key left',
      401,
      'invalid_api_key',
      () => worker.define({ ...runs.application, keys: [] }),
    ],
    [
      'the application has expired',
      401,
      'invalid_api_key',
      () => worker.define({ ...runs.application, expiresAt: '2020-01-01T00:00:00.000Z' }),
    ],
    [
      'the application may not use tokens any more',
      403,
      'permission_denied',
      () => worker.define({ ...runs.application, permissions: [] }),
    ],
  ])('has failed when %s: %d %s', async (_, status, code, change) => {
    const run = await runs.claimNew();
    await change();
    expect(await executeRun(worker.ctx, run)).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'failed' });
    expect(await webhookOf(run)).toMatchObject({
      status,
      code,
      detail: expect.any(String) as string,
    });
  });

  it('has failed when its reactor does not exist: 404 not_found', async () => {
    const run = await runs.claimNew({}, { reactorId: randomUUID() });
    expect(await executeRun(worker.ctx, run)).toBe('done');
    expect(await webhookOf(run)).toMatchObject({ status: 404, code: 'not_found' });
  });
});

describe('a run whose code has not started', () => {
  beforeEach(() => setCode('module.exports = () => ({ raw: 1 })'));

  it.each<ProblemCode>(['service_unavailable', 'share_exhausted', 'changed_meanwhile'])(
    'is given back without a fault on %s, and its tenant is left alone for a while',
    async (code) => {
      const run = await runs.claimNew();
      expect(await executeRun(refusing(new Problem(code)), run)).toBe('later');
      const row = await runs.row(run.id);
      expect(row).toMatchObject({ status: 'pending', faults: 0, isLeased: false });
      expect(await runs.webhooks(run.id)).toEqual([]);
    },
  );

  it('is given back for five seconds, without a fault, while its formula needs a newer worker', async () => {
    await worker.needReader(readerVersion + 1, runs.formula);
    for (let tries = 0; tries <= faultsMax; tries += 1) {
      await worker.ctx.database.query('UPDATE reactor_runs SET due_at = now()');
      const run = tries === 0 ? await runs.claimNew() : await claimAgain();
      // The other runs of its tenant go on.
      expect(await executeRun(worker.ctx, run)).toBe('done');
      const row = await runs.row(run.id);
      expect(row).toMatchObject({ status: 'pending', faults: 0, isLeased: false });
      expect(row.dueInMs).toBeGreaterThan(3_000);
    }
    await worker.needReader(1, runs.formula);
  });

  it('is given back when its formula changes between its arguments and its start', async () => {
    const run = await runs.claimNew();
    let looks = 0;
    const changing = contextWith(async (follower) => {
      looks += 1;
      if (looks === 2) await setCode('module.exports = () => ({ raw: 2 })');
      return follower.current();
    });
    expect(await executeRun(changing, run)).toBe('later');
    expect(await runs.row(run.id)).toMatchObject({ status: 'pending', isStarted: false });
  });

  it('is given back when no runner has a place for it, as if it had not been marked', async () => {
    const full: WorkerContext = {
      ...worker.ctx,
      runner: { ...worker.ctx.runner, run: () => Promise.resolve({ kind: 'no_capacity' }) },
    };
    const run = await runs.claimNew();
    expect(await executeRun(full, run)).toBe('later');
    expect(await runs.row(run.id)).toMatchObject({
      status: 'pending',
      isStarted: false,
      faults: 0,
    });
  });

  it('is given back with a fault when an unexpected error occurs', async () => {
    const run = await runs.claimNew();
    expect(await executeRun(refusing(new Error('broken')), run)).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'pending', faults: 1 });
  });

  it('is given up after five faults: its webhook says internal_error', async () => {
    const run = await runs.claimNew();
    await runs.set(run.id, `faults = ${faultsMax - 1}`);
    const last = { ...run, faults: faultsMax - 1 };
    expect(await executeRun(refusing(new Error('broken')), last)).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'pending', faults: faultsMax });
    await runs.set(run.id, 'due_at = now()');
    const again = await runs.claim();
    expect(await executeRun(worker.ctx, again)).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'failed' });
    expect(await webhookOf(again)).toMatchObject({ status: 500, code: 'internal_error' });
  });

  it("is given back with a fault when it does not open, and its tenant's other runs go on", async () => {
    const run = await runs.claimNew();
    const broken = { ...run, args: Buffer.from('broken') };
    expect(await executeRun(worker.ctx, broken)).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'pending', faults: 1 });
  });
});

describe('a run whose worker died', () => {
  it('behind the start of its code is not started again: run_interrupted', async () => {
    await setCode('module.exports = () => ({ raw: 1 })');
    const dead = await runs.claimNew();
    await markStarted(worker.ctx.database, dead);
    await runs.set(dead.id, `status = 'pending', due_at = now()`);
    const run = await runs.claim();
    expect(await executeRun(worker.ctx, run)).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'failed' });
    expect(await webhookOf(run)).toMatchObject({ status: 500, code: 'run_interrupted' });
  });
});

it('a run whose workers fell silent five times before its code is given up: internal_error', async () => {
  await setCode('module.exports = () => ({ raw: 1 })');
  let run = await runs.claimNew();
  for (let silent = 0; silent < faultsMax; silent += 1) {
    await runs.set(run.id, `lease_until = now() - interval '1 second'`);
    await takeBackSilentRuns(worker.ctx.database);
    run = await runs.claim();
  }
  expect(await executeRun(worker.ctx, run)).toBe('done');
  expect(await runs.row(run.id)).toMatchObject({ status: 'failed', fence: faultsMax + 1 });
  expect(await webhookOf(run)).toMatchObject({ status: 500, code: 'internal_error' });
});

describe('a run that another worker has claimed', () => {
  /** Makes the run due again, and claims it as another worker. */
  const takeOver = async (id: string): Promise<ClaimedRun | undefined> => {
    await runs.set(id, `status = 'pending', due_at = now()`);
    return (await claimRuns(worker.ctx.database, runs.tenantId, 1))[0];
  };

  it('before its code starts is not started by its former owner, who writes nothing', async () => {
    await setCode('module.exports = () => ({ raw: 1 })');
    const run = await runs.claimNew();
    const slow = contextWith(async (follower) => {
      if ((await runs.row(run.id)).fence === 1) await takeOver(run.id);
      return follower.current();
    });
    expect(await executeRun(slow, run)).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({
      status: 'running',
      fence: 2,
      isStarted: false,
      isLeased: true,
    });
    expect(await runs.webhooks(run.id)).toEqual([]);
  });

  it('while its code runs is ended by its former owner, who writes nothing', async () => {
    await setCode('module.exports = () => new Promise(() => {})');
    const run = await runs.claimNew();
    const executing = executeRun(worker.ctx, run, 20);
    await waitFor(async () => (await runs.row(run.id)).isStarted);
    await takeOver(run.id);
    expect(await executing).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'running', fence: 2 });
    expect(await runs.webhooks(run.id)).toEqual([]);
  });

  it('just before its end gets nothing of the result of its former owner', async () => {
    await setCode('module.exports = () => ({ raw: 1 })');
    const run = await runs.claimNew();
    const { run: runCode } = worker.ctx.runner;
    const slow: WorkerContext = {
      ...worker.ctx,
      runner: {
        ...worker.ctx.runner,
        async run(request, hooks) {
          const outcome = await runCode(request, hooks);
          await takeOver(run.id);
          return outcome;
        },
      },
    };
    expect(await executeRun(slow, run)).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'running', fence: 2 });
    expect(await runs.webhooks(run.id)).toEqual([]);
  });
});

describe('the owner of a run', () => {
  it('renews its lease as long as the code runs', async () => {
    await setCode(
      'module.exports = ({ args }) => new Promise((end) => setTimeout(end, args.ms, {}))',
    );
    const run = await runs.claimNew({ ms: 300 });
    const executing = executeRun(worker.ctx, run, 10);
    await runs.set(run.id, `lease_until = now() - interval '1 second'`);
    const isRenewed = async (): Promise<boolean> => {
      const rows = await worker.ctx.database.query(
        'SELECT 1 FROM reactor_runs WHERE id = $1 AND lease_until > now()',
        [run.id],
      );
      return rows.length > 0;
    };
    await waitFor(isRenewed);
    expect(await executing).toBe('done');
    expect(await runs.row(run.id)).toMatchObject({ status: 'completed' });
  });

  it('goes on when a renewal fails: the next one may succeed', async () => {
    await setCode(
      'module.exports = ({ args }) => new Promise((end) => setTimeout(end, args.ms, {}))',
    );
    const run = await runs.claimNew({ ms: 200 });
    let failures = 0;
    const { database } = worker.ctx;
    const stumbling: WorkerContext = {
      ...worker.ctx,
      database: {
        ...database,
        query: (statement, values) => {
          if (!String(statement).startsWith('UPDATE reactor_runs SET lease_until')) {
            return database.query(statement, values);
          }
          failures += 1;
          return Promise.reject(new Error('away'));
        },
      },
    };
    expect(await executeRun(stumbling, run, 20)).toBe('done');
    expect(failures).toBeGreaterThan(1);
    expect(await runs.row(run.id)).toMatchObject({ status: 'completed' });
  });

  it('reports an end that cannot be written, and leaves the run its lease', async () => {
    await setCode('module.exports = () => ({ raw: 1 })');
    const run = await runs.claimNew();
    await worker.admin.query('ALTER TABLE webhook_deliveries RENAME TO away');
    try {
      await expect(executeRun(worker.ctx, run)).rejects.toThrow();
    } finally {
      await worker.admin.query('ALTER TABLE away RENAME TO webhook_deliveries');
    }
    expect(await runs.row(run.id)).toMatchObject({ status: 'running', isLeased: true });
  });
});
