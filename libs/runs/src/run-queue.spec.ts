import { randomBytes, randomUUID } from 'node:crypto';
import { dataKeyTable, readerVersion, timeOfId } from '@glovebox/database';
import { parseKeyRing, Sealer } from '@glovebox/seal';
import { fastest, waitFor } from '@glovebox/testing';
import { recordWithoutCode, textPlace } from './ended-runs';
import {
  claimRuns,
  faultsMax,
  finishRun,
  insertRun,
  leaseSeconds,
  markStarted,
  openRun,
  releaseRun,
  renewRun,
  takeBackSilentRuns,
  type ClaimedRun,
  type NewRun,
} from './run-queue';
import { runPlace } from './run-columns';
import { startSpecRows, type SpecRows } from './spec-rows';

let rows: SpecRows;

beforeAll(async () => {
  rows = await startSpecRows();
});
afterAll(() => rows.close());
beforeEach(() => rows.empty());

const runOf = (tenantId: string): NewRun => ({
  tenantId,
  reactorId: randomUUID(),
  actorId: randomUUID(),
  args: { card: '{{ token }}', word: 'sesame' },
  callbackUrl: 'https://receiver.example/sesame',
  timeoutMs: 20_000,
  traceId: 'trace',
});

it('an accepted run is due at once, with its arguments and its callback URL sealed', async () => {
  const run = runOf(randomUUID());
  const id = await insertRun(rows.database, rows.sealer, run, 10);
  const [row] = await rows.database.query<{ args: Buffer; url: Buffer }>(
    `SELECT reactor_id AS "reactorId", actor_id AS "actorId", status, timeout_ms AS "timeoutMs",
       trace_id AS "traceId", due_at <= now() AS "isDue", fence, started_at AS "startedAt",
       arguments AS args, callback_url AS url
     FROM reactor_runs WHERE id = $1 AND tenant_id = $2`,
    [id, run.tenantId],
  );
  if (!row) throw new Error('the run has no row');
  const { args, url, ...columns } = row;
  const { reactorId, actorId, timeoutMs, traceId } = run;
  const unclaimed = { status: 'pending', isDue: true, fence: '0', startedAt: null };
  expect(columns).toEqual({ reactorId, actorId, timeoutMs, traceId, ...unclaimed });
  expect(Buffer.concat([args, url]).includes('sesame')).toBe(false);
  const opened = await Promise.all([
    rows.sealer.open(runPlace(run.tenantId, id, 'arguments'), args),
    rows.sealer.open(runPlace(run.tenantId, id, 'callback_url'), url),
  ]);
  expect(opened.map(String)).toEqual([JSON.stringify(run.args), run.callbackUrl]);
});

it('a run was accepted when its id says, however long its statement waited', async () => {
  const run = runOf(randomUUID());
  const id = await rows.database.shareOf(run.tenantId).transaction(async (sql) => {
    const [{ ms } = { ms: Infinity }] = await sql.query<{ ms: number }>(
      'SELECT extract(epoch FROM now())::float8 * 1000 AS ms',
    );
    // The time of the transaction, which now() tells, has passed.
    await waitFor(() => Promise.resolve(Date.now() > ms + 5));
    return insertRun(sql, rows.sealer, run, 10);
  });
  const [row] = await rows.database.query<{ createdAt: Date }>(
    'SELECT created_at AS "createdAt" FROM reactor_runs WHERE id = $1',
    [id],
  );
  expect(row?.createdAt.getTime()).toBe(timeOfId(id));
});

it('a tenant with as many waiting runs and webhooks as it may have is refused, others are not', async () => {
  const [full, other] = [randomUUID(), randomUUID()];
  await insertRun(rows.database, rows.sealer, runOf(full), 3);
  const ended = await insertRun(rows.database, rows.sealer, runOf(full), 3);
  await rows.database.query(
    `INSERT INTO webhook_deliveries (id, tenant_id, run_id, webhook_id, callback_url, body, status,
       next_attempt_at, created_at)
     VALUES (gen_random_uuid(), $1, $1, '', '', '', 'pending', now(), now())`,
    [full],
  );
  await expect(insertRun(rows.database, rows.sealer, runOf(full), 3)).rejects.toMatchObject({
    status: 429,
    code: 'share_exhausted',
  });
  await insertRun(rows.database, rows.sealer, runOf(other), 3);
  await rows.database.query('DELETE FROM reactor_runs WHERE id = $1', [ended]);
  await insertRun(rows.database, rows.sealer, runOf(full), 3);
});

/** The end of a run whose webhook has this body. */
const ended = (body: string) => ({ body, record: recordWithoutCode('internal_error'), sights: [] });
const claim = async (tenantId = rows.tenantId): Promise<ClaimedRun | undefined> =>
  (await claimRuns(rows.database, tenantId, 1))[0];
const leaseLeft = async (id: string): Promise<number> => {
  const [row] = await rows.database.query<{ left: number }>(
    'SELECT extract(epoch FROM lease_until - now())::float8 AS left FROM reactor_runs WHERE id = $1',
    [id],
  );
  return row?.left ?? 0;
};

describe('a claim of a run', () => {
  it('takes the run that has been due for longest, under a lease and the next fence', async () => {
    const [later, sooner] = [await rows.accept(), await rows.accept()];
    await rows.set(sooner, `due_at = now() - interval '1 minute'`);
    const claimed = await claim();
    expect(claimed).toMatchObject({
      id: sooner,
      tenantId: rows.tenantId,
      reactorId: rows.reactorId,
      actorId: rows.actorId,
      timeoutMs: 10_000,
      traceId: 'trace',
      fence: '1',
      startedBefore: false,
      faults: 0,
    });
    expect(await rows.row(sooner)).toMatchObject({ status: 'running', fence: 1, isLeased: true });
    expect(await leaseLeft(sooner)).toBeGreaterThan(leaseSeconds - 2);
    expect((await claim())?.id).toBe(later);
  });

  it('takes as many as are asked for, those that have been due for longest', async () => {
    const ids = [await rows.accept(), await rows.accept(), await rows.accept()];
    await rows.set(ids[0] ?? '', `due_at = now() - interval '1 second'`);
    await rows.set(ids[2] ?? '', `due_at = now() - interval '1 minute'`);
    const taken = await claimRuns(rows.database, rows.tenantId, 2);
    expect(taken.map(({ id }) => id).sort()).toEqual([ids[0], ids[2]].sort());
    expect(await claimRuns(rows.database, rows.tenantId, 2)).toMatchObject([{ id: ids[1] }]);
  });

  it('takes no run that is due later or is running, and none of another tenant', async () => {
    const due = await rows.accept();
    await rows.set(due, `due_at = now() + interval '1 minute'`);
    const running = await rows.accept();
    await rows.set(running, `status = 'running'`);
    expect(await claim()).toBeUndefined();
    await rows.accept();
    expect(await claim(randomUUID())).toBeUndefined();
  });

  it('passes over the run that another worker is claiming', async () => {
    const [first, second] = [await rows.accept(), await rows.accept()];
    await rows.set(first, `due_at = now() - interval '1 minute'`);
    await rows.database.transaction(async (sql) => {
      await claimRuns(sql, rows.tenantId, 1);
      expect((await claim())?.id).toBe(second);
    });
  });

  it('marks a run whose code had started under an earlier claim', async () => {
    const claimed = await rows.claimNew();
    expect(await markStarted(rows.database, claimed)).toBe(true);
    await rows.set(claimed.id, `lease_until = now() - interval '1 second'`);
    await takeBackSilentRuns(rows.database);
    expect(await claim()).toMatchObject({ id: claimed.id, startedBefore: true, fence: '2' });
  });
});

describe('an opened run', () => {
  it('has its arguments and its callback URL as they were accepted', async () => {
    const claimed = await rows.claimNew({ a: '{{ token }}', b: [1, null] });
    expect(await openRun(rows.database, rows.sealer, claimed)).toMatchObject({
      id: claimed.id,
      fence: 1,
      args: { a: '{{ token }}', b: [1, null] },
      callbackUrl: 'https://receiver.example/hook',
    });
  });

  it('does not open in the place of another run', async () => {
    const [one, other] = [await rows.claimNew(), await rows.claimNew()];
    const opening = openRun(rows.database, rows.sealer, { ...one, args: other.args });
    await expect(opening).rejects.toThrow();
  });
});

describe('a run that does not open', () => {
  const broken = (claimed: ClaimedRun): Promise<unknown> =>
    openRun(rows.database, rows.sealer, { ...claimed, args: Buffer.from('broken') });

  it('is given back with one more fault, due a second later', async () => {
    const claimed = await rows.claimNew();
    await expect(broken(claimed)).rejects.toThrow();
    const row = await rows.row(claimed.id);
    expect(row).toMatchObject({ status: 'pending', faults: 1, isLeased: false });
    expect(row.dueInMs).toBeGreaterThan(0);
    expect(row.dueInMs).toBeLessThanOrEqual(1_000);
  });

  it('has failed after five faults, and has no webhook', async () => {
    const claimed = await rows.claimNew();
    await expect(broken({ ...claimed, faults: faultsMax - 1 })).rejects.toThrow();
    expect(await rows.row(claimed.id)).toMatchObject({ status: 'pending' });
    await rows.set(claimed.id, `due_at = now(), faults = ${faultsMax}`);
    await expect(broken(await rows.claim())).rejects.toThrow();
    expect(await rows.row(claimed.id)).toMatchObject({
      status: 'failed',
      outcome: 'internal_error',
    });
    expect(await rows.webhooks(claimed.id)).toEqual([]);
  });

  it('is given back without a fault by a worker that lacks the master key', async () => {
    const claimed = await rows.claimNew();
    const ring = parseKeyRing(`2:${randomBytes(32).toString('base64')}`);
    const lacking = new Sealer(ring, dataKeyTable(rows.database));
    await expect(
      openRun(rows.database, lacking, { ...claimed, faults: faultsMax }),
    ).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await rows.row(claimed.id)).toMatchObject({ status: 'pending', faults: 0 });
  });
});

describe('the owner of a run', () => {
  it('renews its lease', async () => {
    const run = await rows.openNew();
    await rows.set(run.id, `lease_until = now() + interval '1 second'`);
    expect(await renewRun(rows.database, run)).toBe(true);
    expect(await leaseLeft(run.id)).toBeGreaterThan(leaseSeconds - 2);
  });

  it('gives it back with or without a fault', async () => {
    const run = await rows.openNew();
    await markStarted(rows.database, run);
    await releaseRun(rows.database, run, 'later');
    expect(await rows.row(run.id)).toMatchObject({
      status: 'pending',
      faults: 0,
      isStarted: false,
      isLeased: false,
    });
    await rows.set(run.id, 'due_at = now()');
    await releaseRun(rows.database, await rows.claim(), 'fault');
    expect(await rows.row(run.id)).toMatchObject({ status: 'pending', faults: 1 });
  });

  it('ends it in one step: its row moves to the log, and its sealed webhook is due', async () => {
    const run = await rows.openNew();
    const lines = [{ at: 1, level: 'info', text: 'a line of the code' } as const];
    const startedAt = run.createdAt.getTime() + 300;
    await finishRun(rows.database, rows.sealer, run, {
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
    expect(await rows.admin.query('SELECT 1 FROM reactor_runs')).toEqual([]);
    const [row] = await rows.admin.query<{ lines: Buffer }>(
      'SELECT * FROM ended_runs WHERE id = $1',
      [run.id],
    );
    expect(row).toEqual({
      tenant_id: rows.tenantId,
      id: run.id,
      kind: 'reactor',
      resource_id: rows.reactorId,
      application_id: rows.actorId,
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
      reason: null,
      code_id: null,
      created_at: run.createdAt,
      started_at: new Date(startedAt),
      ended_at: new Date(startedAt + 40),
    });
    const place = textPlace(rows.tenantId, run.id, 'lines');
    const opened = await rows.sealer.open(place, row?.lines ?? Buffer.alloc(0));
    expect(JSON.parse(opened.toString('utf8'))).toEqual(lines);
    expect(await rows.webhooks(run.id)).toEqual([{ raw: 5 }]);
    const [delivery] = await rows.database.query(
      `SELECT id, reactor_id AS "reactorId", webhook_id AS "webhookId", status, attempts,
         next_attempt_at <= now() AS due, attempt_log AS log,
         position('receiver.example' IN encode(callback_url, 'escape')) AS shown
       FROM webhook_deliveries WHERE run_id = $1`,
      [run.id],
    );
    expect(delivery).toEqual({
      id: run.id,
      reactorId: rows.reactorId,
      webhookId: `msg_${run.id}`,
      status: 'pending',
      attempts: 0,
      due: true,
      log: [],
      shown: 0,
    });
  });

  it('leaves neither an end nor a webhook where one of them cannot be written', async () => {
    const run = await rows.openNew();
    await rows.admin.query('ALTER TABLE webhook_deliveries RENAME TO away');
    try {
      const ending = finishRun(rows.database, rows.sealer, run, ended('{}'));
      await expect(ending).rejects.toThrow();
    } finally {
      await rows.admin.query('ALTER TABLE away RENAME TO webhook_deliveries');
    }
    expect(await rows.row(run.id)).toMatchObject({ status: 'running' });
  });

  it('gives webhooks of one tenant to one host one receiver, and all others another', async () => {
    const receivers = new Set<string>();
    const receiverOf = async (tenantId: string, callbackUrl: string): Promise<string> => {
      const run = { ...(await rows.openNew()), tenantId, callbackUrl };
      await finishRun(rows.database, rows.sealer, run, ended('{}'));
      const [row] = await rows.database.query<{ receiver: string }>(
        'SELECT receiver FROM webhook_deliveries WHERE run_id = $1',
        [run.id],
      );
      return row?.receiver ?? '';
    };
    for (const path of ['https://a.example/1', 'https://a.example:8443/2']) {
      receivers.add(await receiverOf(rows.tenantId, path));
    }
    expect(receivers.size).toBe(1);
    receivers.add(await receiverOf(rows.tenantId, 'https://b.example/1'));
    receivers.add(await receiverOf(randomUUID(), 'https://a.example/1'));
    expect(receivers.size).toBe(3);
  });
});

describe('a former owner of a run', () => {
  it.each<[string, (former: ClaimedRun) => Promise<unknown>, unknown]>([
    ['renew its lease', (former) => renewRun(rows.database, former), false],
    ['mark its start', (former) => markStarted(rows.database, former), false],
    ['give it back', (former) => releaseRun(rows.database, former, 'fault'), undefined],
    [
      'end it',
      (former) =>
        finishRun(
          rows.database,
          rows.sealer,
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
        openRun(rows.database, rows.sealer, {
          ...former,
          args: Buffer.from('broken'),
          faults: faultsMax,
        }).catch(() => 'it did not open'),
      'it did not open',
    ],
  ])('cannot %s: its fence is an old one', async (_, write, answer) => {
    const former = await rows.claimNew();
    await rows.set(former.id, `status = 'pending', due_at = now()`);
    await rows.claim();
    const before = await rows.row(former.id);
    expect(await write(former)).toBe(answer);
    const { dueInMs: _due, ...after } = await rows.row(former.id);
    expect(before).toMatchObject(after);
    expect(await rows.webhooks(former.id)).toEqual([]);
  });

  it('cannot end a run that its next owner has ended: there is one webhook', async () => {
    const former = await rows.openNew();
    await rows.set(former.id, `status = 'pending', due_at = now()`);
    const owner = await openRun(rows.database, rows.sealer, await rows.claim());
    const { database, sealer } = rows;
    await finishRun(database, sealer, owner, ended('{"raw":"owner"}'));
    await finishRun(database, sealer, former, ended('{"raw":"former"}'));
    expect(await rows.row(former.id)).toMatchObject({ status: 'failed', fence: 2 });
    expect(await rows.webhooks(former.id)).toEqual([{ raw: 'owner' }]);
  });
});

describe('a run of a silent worker', () => {
  it('is taken back once its lease is over, and not before: that is a fault', async () => {
    const claimed = await rows.claimNew();
    await takeBackSilentRuns(rows.database);
    expect(await rows.row(claimed.id)).toMatchObject({ status: 'running' });
    await rows.set(claimed.id, `lease_until = now() - interval '1 millisecond'`);
    await takeBackSilentRuns(rows.database);
    expect(await rows.row(claimed.id)).toMatchObject({ status: 'pending', fence: 1, faults: 1 });
  });

  it('is taken back at once although 5,000 of another tenant were silent before it', async () => {
    await rows.database.query(
      `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments,
         callback_url, timeout_ms, trace_id, created_at, lease_until)
       SELECT gen_random_uuid(), $1, $1, $1, 'running', '', '', 10000, 'trace', now(),
         now() - interval '1 hour' FROM generate_series(1, 5000)`,
      [randomUUID()],
    );
    const claimed = await rows.claimNew();
    await rows.set(claimed.id, `lease_until = now() - interval '1 millisecond'`);
    await takeBackSilentRuns(rows.database);
    expect(await rows.row(claimed.id)).toMatchObject({ status: 'pending' });
  });
});

it('a run of a newer release stays due for a worker of it, and holds up no other', async () => {
  const tenantId = rows.tenantId;
  const later = await rows.accept();
  await rows.database.query('UPDATE reactor_runs SET reader_version = $1', [readerVersion + 1]);
  const own = await rows.accept();
  const claimed = await claimRuns(rows.database, tenantId, 10);
  expect(claimed.map(({ id }) => id)).toEqual([own]);
  const [row] = await rows.database.query(
    `SELECT status, due_at <= now() AS "isDue", faults FROM reactor_runs WHERE id = $1`,
    [later],
  );
  expect(row).toEqual({ status: 'pending', isDue: true, faults: 0 });
});

it('10,000 runs of a newer release cost a claim less than 100 ms', async () => {
  const own = new Set<string>();
  while (own.size < 6) own.add(await rows.accept());
  await rows.admin.query(
    `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
       timeout_ms, trace_id, created_at, due_at, reader_version)
     SELECT gen_random_uuid(), $1, $1, $1, 'pending', '', '', 1, '', now(), now() - interval '1 hour', $2
     FROM generate_series(1, 10000)`,
    [rows.tenantId, readerVersion + 1],
  );
  const claimMs = async (): Promise<number> => {
    const begun = performance.now();
    const claimed = await claimRuns(rows.database, rows.tenantId, 1);
    const tookMs = performance.now() - begun;
    expect(claimed.map(({ id }) => own.delete(id))).toEqual([true]);
    return tookMs;
  };
  expect(await fastest(100, claimMs)).toBeLessThan(100);
});
