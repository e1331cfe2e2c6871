import { randomUUID } from 'node:crypto';
import { claimRuns, insertRun, openKeptRun, type ClaimedRun } from '@glovebox/runs';
import { startRunner } from '@glovebox/testing';
import type { WorkerConfig } from './config';
import { executeRun } from './execute-run';
import { byOwner } from './housekeeping';
import { startSpecRuns, type SpecRuns } from './spec-runs';
import { startSpecWorker, type SpecWorker } from './spec-worker';

const secret = 'a plain secret in the arguments';
const callbackUrl = 'https://receiver.example/hook';

let runner: Awaited<ReturnType<typeof startRunner>>;
let worker: SpecWorker;
let runs: SpecRuns;

beforeAll(async () => {
  runner = await startRunner();
  worker = await startSpecWorker({
    ...{ RUNNER_URLS: runner.url, RUNNER_SECRET: runner.secret, LOG_LEVEL: 'silent' },
  });
  runs = await startSpecRuns(worker);
  await setCode(
    `module.exports = ({ args }) => { if (!args.fine) throw new Error('why'); return {}; }`,
  );
});
afterAll(async () => {
  await worker.close();
  await runner.stop();
});
beforeEach(() => worker.admin.query('DELETE FROM kept_arguments'));

const setCode = (code: string): Promise<void> =>
  worker.define({ ...runs.formula, code, codeHash: code });

async function ended(args: Readonly<Record<string, unknown>>, config: Partial<WorkerConfig> = {}) {
  const run = await runs.claimNew(args);
  await execute(run, config);
  return run;
}

async function execute(run: ClaimedRun, config: Partial<WorkerConfig> = {}): Promise<void> {
  const ctx = { ...worker.ctx, config: { ...worker.ctx.config, ...config } };
  expect(await executeRun(ctx, run)).toBe('done');
}

const kept = ({ id, tenantId }: ClaimedRun) =>
  openKeptRun(worker.ctx.database, worker.ctx.sealer, { tenantId, id });
const keptIds = async (): Promise<string[]> =>
  (
    await worker.admin.query<{ id: string }>(
      'SELECT run_id AS id FROM kept_arguments ORDER BY run_id',
    )
  ).map(({ id }) => id);
const work = (deletion: string): Promise<number> => byOwner(deletion)(worker.ctx.database, 1_000);

function token(data: string): Promise<string> {
  const { database, vault } = worker.ctx;
  const principal = {
    ...{ actorId: runs.application.id, tenantId: runs.tenantId, type: 'private' as const },
    ...{ permissions: ['token:create' as const], rules: [] },
  };
  return database.transaction(async (sql) => {
    const { view } = await vault.createToken(sql, { principal, traceId: 'spec' }, { data });
    return view.id;
  });
}

it('arguments of a run that failed are kept sealed, for a day', async () => {
  const run = await ended({ secret });
  expect(await kept(run)).toEqual({
    ...{ reactorId: run.reactorId, args: { secret }, callbackUrl, timeoutMs: 10_000 },
  });
  const [row] = await worker.admin.query<{ text: string; hours: number }>(
    `SELECT encode(arguments, 'escape') AS text,
       extract(epoch FROM kept_until - now())::float8 / 3600 AS hours FROM kept_arguments`,
  );
  expect(row?.text).not.toContain(secret);
  expect(row?.hours).toBeCloseTo(24, 1);
});

it('arguments of a run that did not fail are not kept, nor any for 0 hours', async () => {
  await ended({ fine: true });
  await ended({ secret }, { RUN_ARGUMENTS_KEPT: 0 });
  expect(await keptIds()).toEqual([]);
});

it('of runs that end at one moment, those that failed are kept', async () => {
  const claimed = await Promise.all(
    [true, false, true, false].map(async (fine) => {
      await runs.accept({ fine });
      return fine;
    }),
  );
  const all = await claimRuns(worker.ctx.database, runs.tenantId, claimed.length);
  await Promise.all(all.map((run) => execute(run)));
  const rows = await Promise.all(
    all.map(async ({ id }) => [(await runs.row(id)).status, id] as const),
  );
  const failed = rows.flatMap(([status, id]) => (status === 'failed' ? [id] : []));
  expect(failed).toHaveLength(2);
  expect(await keptIds()).toEqual(failed.sort());
});

it('of many failed runs of a tenant the newest are kept', async () => {
  const all: string[] = [];
  for (let nth = 0; nth < 5; nth += 1) {
    all.push((await ended({ nth }, { RUN_ARGUMENTS_PER_TENANT: 3 })).id);
  }
  expect(await keptIds()).toEqual(all.sort().slice(2));
});

it('housekeeping deletes them when their time is over, and those of a deleted tenant', async () => {
  const [old, young] = [await ended({ nth: 1 }), await ended({ nth: 2 })];
  await worker.admin.query(
    `UPDATE kept_arguments SET kept_until = now() - interval '1 second' WHERE run_id = $1`,
    [old.id],
  );
  expect(await kept(old)).toBeUndefined();
  expect(await work('delete_kept_arguments')).toBe(1);
  expect(await keptIds()).toEqual([young.id]);
});

describe('arguments that name a token', () => {
  it('are erased with it', async () => {
    const [gone, other] = [await token('gone'), await token('other')];
    const named = await ended({ a: `{{${gone}}} and {{${other}}}`, secret });
    const unnamed = await ended({ a: `{{${other}}}`, secret });
    expect(await keptIds()).toEqual([named.id, unnamed.id].sort());
    await worker.admin.query('DELETE FROM tokens WHERE id = $1', [gone]);
    await work('erase_gone_answers');
    expect(await keptIds()).toEqual([unnamed.id]);
  });

  it('are not kept where it is gone before the run ends', async () => {
    const id = await token('gone soon');
    const run = await runs.claimNew({ a: `{{${id}}}`, secret });
    await worker.admin.query('DELETE FROM tokens WHERE id = $1', [id]);
    await execute(run);
    expect(await runs.row(run.id)).toMatchObject({ status: 'failed', outcome: 'unknown_token' });
    expect(await keptIds()).toEqual([]);
  });
});

it('a run of a person runs by the role of now', async () => {
  const { tenantId } = runs;
  const { database, sealer } = worker.ctx;
  const { reactorId } = await ended({});
  const id = await token('the data');
  const [actorId, other] = [randomUUID(), randomUUID()];
  await worker.admin.query(
    `INSERT INTO tenants (id, name, settings, webhook_secrets, created_at)
     VALUES ($1, 'T', '{}', '', now())`,
    [tenantId],
  );
  await worker.admin.query(
    `INSERT INTO people (id, tenant_id, issuer, subject, name, role)
     VALUES ($1, $3, 'i', 'a', 'A', 'author'), ($2, $3, 'i', 'b', 'B', 'viewer')`,
    [actorId, other, tenantId],
  );
  const outcomeAs = async (actor: string): Promise<string | null> => {
    const run = { tenantId, reactorId, actorId: actor, args: { fine: `{{${id}}}` } };
    const more = { callbackUrl, timeoutMs: 10_000, traceId: 't' };
    const accepted = await insertRun(database, sealer, { ...run, ...more }, 1_000);
    const [claimed] = await claimRuns(database, tenantId, 1);
    if (claimed?.id !== accepted) throw new Error('the run is not due');
    await execute(claimed);
    return (await runs.row(accepted)).outcome;
  };
  expect(await outcomeAs(actorId)).toBe('completed');
  expect(await outcomeAs(other)).toBe('permission_denied');
  expect(await outcomeAs(randomUUID())).toBe('invalid_api_key');
});

it('a run without a callback ends without a webhook, and older workers leave it alone', async () => {
  const { tenantId, application } = runs;
  const { database, sealer } = worker.ctx;
  const { reactorId } = await ended({});
  const run = { tenantId, reactorId, actorId: application.id, args: {}, callbackUrl: '' };
  const id = await insertRun(database, sealer, { ...run, timeoutMs: 10_000, traceId: 't' }, 1_000);
  expect(
    await worker.admin.query('SELECT reader_version FROM reactor_runs WHERE id = $1', [id]),
  ).toEqual([{ reader_version: 3 }]);
  const [claimed] = await claimRuns(database, tenantId, 1);
  if (claimed?.id !== id) throw new Error('the run is not due');
  await execute(claimed);
  expect(await runs.row(id)).toMatchObject({ status: 'failed' });
  expect(await runs.webhooks(id)).toEqual([]);
  expect(await kept(claimed)).toMatchObject({ callbackUrl: '' });
});
