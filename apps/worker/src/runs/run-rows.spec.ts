import { randomBytes } from 'node:crypto';
import { dataKeyTable } from '@glovebox/database';
import { linesPlace } from '@glovebox/reactors';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { startSpecWorker, type SpecWorker } from '../spec-worker';
import {
  claimRuns,
  faultsMax,
  finishRun,
  leaseSeconds,
  markStarted,
  openRun,
  recordOf,
  releaseRun,
  renewRun,
  takeBackSilentRuns,
  type ClaimedRun,
} from './run-rows';
import { startSpecRuns, type SpecRuns } from './spec-runs';

let worker: SpecWorker;
let runs: SpecRuns;

beforeAll(async () => {
  worker = await startSpecWorker({ LOG_LEVEL: 'silent' });
  runs = await startSpecRuns(worker);
});
afterAll(() => worker.close());
beforeEach(async () => {
  await worker.ctx.database.query('DELETE FROM reactor_runs');
  await worker.ctx.database.query('DELETE FROM webhook_deliveries');
  await worker.admin.query('DELETE FROM ended_runs');
});

/** The end of a run whose webhook has this body. */
const ended = (body: string) => ({ body, record: recordOf('internal_error'), sights: [] });
const claim = async (tenantId = runs.tenantId): Promise<ClaimedRun | undefined> =>
  (await claimRuns(worker.ctx.database, tenantId, 1))[0];
const leaseLeft = async (id: string): Promise<number> => {
  const [row] = await worker.ctx.database.query<{ left: number }>(
    'SELECT extract(epoch FROM lease_until - now())::float8 AS left FROM reactor_runs WHERE id = $1',
    [id],
  );
  return row?.left ?? 0;
};

describe('a claim of a run', () => {
  it('takes the run that has been due for longest, under a lease and the next fence', async () => {
    const [later, sooner] = [await runs.accept(), await runs.accept()];
    await runs.set(sooner, `due_at = now() - interval '1 minute'`);
    const claimed = await claim();
    expect(claimed).toMatchObject({
      id: sooner,
      tenantId: runs.tenantId,
      reactorId: runs.reactorId,
      actorId: runs.application.id,
      timeoutMs: 10_000,
      traceId: 'trace',
      fence: '1',
      startedBefore: false,
      faults: 0,
    });
    expect(await runs.row(sooner)).toMatchObject({ status: 'running', fence: 1, isLeased: true });
    expect(await leaseLeft(sooner)).toBeGreaterThan(leaseSeconds - 2);
    expect((await claim())?.id).toBe(later);
  });

  it('takes as many as are asked for, those that have been due for longest', async () => {
    const ids = [await runs.accept(), await runs.accept(), await runs.accept()];
    await runs.set(ids[0] ?? '', `due_at = now() - interval '1 second'`);
    await runs.set(ids[2] ?? '', `due_at = now() - interval '1 minute'`);
    const taken = await claimRuns(worker.ctx.database, runs.tenantId, 2);
    expect(taken.map(({ id }) => id).sort()).toEqual([ids[0], ids[2]].sort());
    expect(await claimRuns(worker.ctx.database, runs.tenantId, 2)).toMatchObject([{ id: ids[1] }]);
  });

  it('takes no run that is due later, is running or has ended, and none of another tenant', async () => {
    const due = await runs.accept();
    await runs.set(due, `due_at = now() + interval '1 minute'`);
    const running = await runs.accept();
    await runs.set(running, `status = 'running'`);
    const ended = await runs.accept();
    await runs.set(ended, `status = 'completed'`);
    expect(await claim()).toBeUndefined();
    await runs.accept();
    expect(await claim(worker.tenantId)).toBeUndefined();
  });

  it('passes over the run that another worker is claiming', async () => {
    const [first, second] = [await runs.accept(), await runs.accept()];
    await runs.set(first, `due_at = now() - interval '1 minute'`);
    await worker.ctx.database.transaction(async (sql) => {
      await claimRuns(sql, runs.tenantId, 1);
      expect((await claim())?.id).toBe(second);
    });
  });

  it('marks a run whose code had started under an earlier claim', async () => {
    const claimed = await runs.claimNew();
    expect(await markStarted(worker.ctx.database, claimed)).toBe(true);
    await runs.set(claimed.id, `lease_until = now() - interval '1 second'`);
    await takeBackSilentRuns(worker.ctx.database);
    expect(await claim()).toMatchObject({ id: claimed.id, startedBefore: true, fence: '2' });
  });
});

describe('an opened run', () => {
  it('has its arguments and its callback URL as they were accepted', async () => {
    const claimed = await runs.claimNew({ a: '{{ token }}', b: [1, null] });
    expect(await openRun(worker.ctx.database, worker.ctx.sealer, claimed)).toMatchObject({
      id: claimed.id,
      fence: 1,
      args: { a: '{{ token }}', b: [1, null] },
      callbackUrl: 'https://receiver.example/hook',
    });
  });

  it('does not open in the place of another run', async () => {
    const [one, other] = [await runs.claimNew(), await runs.claimNew()];
    const opening = openRun(worker.ctx.database, worker.ctx.sealer, { ...one, args: other.args });
    await expect(opening).rejects.toThrow();
  });
});

describe('a run that does not open', () => {
  const broken = (claimed: ClaimedRun): Promise<unknown> =>
    openRun(worker.ctx.database, worker.ctx.sealer, { ...claimed, args: Buffer.from('broken') });

  it('is given back with one more fault, due a second later', async () => {
    const claimed = await runs.claimNew();
    await expect(broken(claimed)).rejects.toThrow();
    const row = await runs.row(claimed.id);
    expect(row).toMatchObject({ status: 'pending', faults: 1, isLeased: false });
    expect(row.dueInMs).toBeGreaterThan(0);
    expect(row.dueInMs).toBeLessThanOrEqual(1_000);
  });

  it('has failed after five faults, and has no webhook', async () => {
    const claimed = await runs.claimNew();
    await expect(broken({ ...claimed, faults: faultsMax - 1 })).rejects.toThrow();
    expect(await runs.row(claimed.id)).toMatchObject({ status: 'pending' });
    await runs.set(claimed.id, `due_at = now(), faults = ${faultsMax}`);
    await expect(broken(await runs.claim())).rejects.toThrow();
    expect(await runs.row(claimed.id)).toMatchObject({
      status: 'failed',
      outcome: 'internal_error',
    });
    expect(await runs.webhooks(claimed.id)).toEqual([]);
  });

  it('is given back without a fault by a worker that lacks the master key', async () => {
    const claimed = await runs.claimNew();
    const ring = parseKeyRing(`2:${randomBytes(32).toString('base64')}`);
    const lacking = new Sealer(ring, dataKeyTable(worker.ctx.database));
    await expect(
      openRun(worker.ctx.database, lacking, { ...claimed, faults: faultsMax }),
    ).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await runs.row(claimed.id)).toMatchObject({ status: 'pending', faults: 0 });
  });
});

describe('the owner of a run', () => {
  it('renews its lease', async () => {
    const run = await runs.openNew();
    await runs.set(run.id, `lease_until = now() + interval '1 second'`);
    expect(await renewRun(worker.ctx.database, run)).toBe(true);
    expect(await leaseLeft(run.id)).toBeGreaterThan(leaseSeconds - 2);
  });

  it('gives it back with or without a fault', async () => {
    const run = await runs.openNew();
    await markStarted(worker.ctx.database, run);
    await releaseRun(worker.ctx.database, run, 'later');
    expect(await runs.row(run.id)).toMatchObject({
      status: 'pending',
      faults: 0,
      isStarted: false,
      isLeased: false,
    });
    await runs.set(run.id, 'due_at = now()');
    await releaseRun(worker.ctx.database, await runs.claim(), 'fault');
    expect(await runs.row(run.id)).toMatchObject({ status: 'pending', faults: 1 });
  });

  it('ends it in one step: its row moves to the log, and its sealed webhook is due', async () => {
    const run = await runs.openNew();
    const lines = [{ at: 1, level: 'info', text: 'a line of the code' } as const];
    const startedAt = run.createdAt.getTime() + 300;
    await finishRun(worker.ctx.database, worker.ctx.sealer, run, {
      body: '{"raw":5}',
      sights: [],
      record: {
        outcome: 'completed',
        status: 200,
        startedAt,
        durationMs: 40,
        queuedMs: 5,
        argumentNames: ['card.number', 'no\0good\ud800'],
        tokenIds: ['token'],
        lines,
        position: { line: 3, column: 4 },
      },
    });
    expect(await worker.admin.query('SELECT 1 FROM reactor_runs')).toEqual([]);
    const [row] = await worker.admin.query<{ lines: Buffer }>(
      'SELECT * FROM ended_runs WHERE id = $1',
      [run.id],
    );
    expect(row).toEqual({
      tenant_id: runs.tenantId,
      id: run.id,
      kind: 'reactor',
      resource_id: runs.reactorId,
      application_id: runs.application.id,
      mode: 'async',
      status: 'completed',
      outcome: 'completed',
      http_status: 200,
      argument_names: ['card.number', 'no\ufffdgood\ufffd'],
      token_ids: ['token'],
      trace_id: 'trace',
      attempt: 1,
      queued_ms: 305,
      duration_ms: 40,
      position: { line: 3, column: 4 },
      lines: expect.any(Buffer) as Buffer,
      created_at: run.createdAt,
      started_at: new Date(startedAt),
      ended_at: new Date(startedAt + 40),
    });
    const place = linesPlace(runs.tenantId, run.id);
    const opened = await worker.ctx.sealer.open(place, row?.lines ?? Buffer.alloc(0));
    expect(JSON.parse(opened.toString('utf8'))).toEqual(lines);
    expect(await runs.webhooks(run.id)).toEqual([{ raw: 5 }]);
    const [delivery] = await worker.ctx.database.query(
      `SELECT id, reactor_id AS "reactorId", webhook_id AS "webhookId", status, attempts,
         next_attempt_at <= now() AS due, attempt_log AS log,
         position('receiver.example' IN encode(callback_url, 'escape')) AS shown
       FROM webhook_deliveries WHERE run_id = $1`,
      [run.id],
    );
    expect(delivery).toEqual({
      id: run.id,
      reactorId: runs.reactorId,
      webhookId: `msg_${run.id}`,
      status: 'pending',
      attempts: 0,
      due: true,
      log: [],
      shown: 0,
    });
  });

  it('leaves neither an end nor a webhook where one of them cannot be written', async () => {
    const run = await runs.openNew();
    await worker.admin.query('ALTER TABLE webhook_deliveries RENAME TO away');
    try {
      const ending = finishRun(worker.ctx.database, worker.ctx.sealer, run, ended('{}'));
      await expect(ending).rejects.toThrow();
    } finally {
      await worker.admin.query('ALTER TABLE away RENAME TO webhook_deliveries');
    }
    expect(await runs.row(run.id)).toMatchObject({ status: 'running' });
  });

  it('gives webhooks of one tenant to one host one receiver, and all others another', async () => {
    const receivers = new Set<string>();
    const receiverOf = async (tenantId: string, callbackUrl: string): Promise<string> => {
      const run = { ...(await runs.openNew()), tenantId, callbackUrl };
      await finishRun(worker.ctx.database, worker.ctx.sealer, run, ended('{}'));
      const [row] = await worker.ctx.database.query<{ receiver: string }>(
        'SELECT receiver FROM webhook_deliveries WHERE run_id = $1',
        [run.id],
      );
      return row?.receiver ?? '';
    };
    for (const path of ['https://a.example/1', 'https://a.example:8443/2']) {
      receivers.add(await receiverOf(runs.tenantId, path));
    }
    expect(receivers.size).toBe(1);
    receivers.add(await receiverOf(runs.tenantId, 'https://b.example/1'));
    receivers.add(await receiverOf(worker.tenantId, 'https://a.example/1'));
    expect(receivers.size).toBe(3);
  });
});

describe('a former owner of a run', () => {
  it.each<[string, (former: ClaimedRun) => Promise<unknown>, unknown]>([
    ['renew its lease', (former) => renewRun(worker.ctx.database, former), false],
    ['mark its start', (former) => markStarted(worker.ctx.database, former), false],
    ['give it back', (former) => releaseRun(worker.ctx.database, former, 'fault'), undefined],
    [
      'end it',
      (former) =>
        finishRun(
          worker.ctx.database,
          worker.ctx.sealer,
          {
            ...former,
            fence: Number(former.fence),
            args: {},
            callbackUrl: 'https://receiver.example/',
          },
          ended('{"late":true}'),
        ),
      false,
    ],
    [
      'give it up',
      (former) =>
        openRun(worker.ctx.database, worker.ctx.sealer, {
          ...former,
          args: Buffer.from('broken'),
          faults: faultsMax,
        }).catch(() => 'it did not open'),
      'it did not open',
    ],
  ])('cannot %s: its fence is an old one', async (_, write, answer) => {
    const former = await runs.claimNew();
    await runs.set(former.id, `status = 'pending', due_at = now()`);
    await runs.claim();
    const before = await runs.row(former.id);
    expect(await write(former)).toBe(answer);
    const { dueInMs: _due, ...after } = await runs.row(former.id);
    expect(before).toMatchObject(after);
    expect(await runs.webhooks(former.id)).toEqual([]);
  });

  it('cannot end a run that its next owner has ended: there is one webhook', async () => {
    const former = await runs.openNew();
    await runs.set(former.id, `status = 'pending', due_at = now()`);
    const owner = await openRun(worker.ctx.database, worker.ctx.sealer, await runs.claim());
    const { database, sealer } = worker.ctx;
    await finishRun(database, sealer, owner, ended('{"raw":"owner"}'));
    await finishRun(database, sealer, former, ended('{"raw":"former"}'));
    expect(await runs.row(former.id)).toMatchObject({ status: 'failed', fence: 2 });
    expect(await runs.webhooks(former.id)).toEqual([{ raw: 'owner' }]);
  });
});

describe('a run of a silent worker', () => {
  it('is taken back once its lease is over, and not before: that is a fault', async () => {
    const claimed = await runs.claimNew();
    await takeBackSilentRuns(worker.ctx.database);
    expect(await runs.row(claimed.id)).toMatchObject({ status: 'running' });
    await runs.set(claimed.id, `lease_until = now() - interval '1 millisecond'`);
    await takeBackSilentRuns(worker.ctx.database);
    expect(await runs.row(claimed.id)).toMatchObject({ status: 'pending', fence: 1, faults: 1 });
  });

  it('is taken back at once although 5,000 of another tenant were silent before it', async () => {
    await worker.ctx.database.query(
      `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments,
         callback_url, timeout_ms, trace_id, created_at, lease_until)
       SELECT gen_random_uuid(), $1, $1, $1, 'running', '', '', 10000, 'trace', now(),
         now() - interval '1 hour' FROM generate_series(1, 5000)`,
      [worker.tenantId],
    );
    const claimed = await runs.claimNew();
    await runs.set(claimed.id, `lease_until = now() - interval '1 millisecond'`);
    await takeBackSilentRuns(worker.ctx.database);
    expect(await runs.row(claimed.id)).toMatchObject({ status: 'pending' });
  });
});
