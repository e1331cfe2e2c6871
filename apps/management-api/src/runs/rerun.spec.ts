import { randomUUID } from 'node:crypto';
import { finishRun, claimRuns, openRun, type RunRecord } from '@glovebox/runs';
import { useTestApi } from '../spec-api';
import { DataPlane } from './spec-data-plane';

const api = useTestApi();
let data: DataPlane;
let reactorId: string;
let actorId: string;

beforeAll(async () => {
  data = new DataPlane(api.ctx, api.database.dataUrl);
  const code = 'module.exports = () => ({})';
  const formula = await api.made('/reactor-formulas', { name: 'F', code });
  const reactor = { name: 'R', configuration: {}, formula: { id: formula.id } };
  reactorId = (await api.made('/reactors', reactor)).id;
  actorId = randomUUID();
});
afterAll(() => data.close());
beforeEach(async () => {
  await api.admin.query('DELETE FROM reactor_runs');
});

const failed: RunRecord = {
  ...{ outcome: 'reactor_error', status: 500, startedAt: Date.now(), durationMs: 1, queuedMs: 0 },
  ...{ argumentNames: [], tokenIds: [], lines: [] },
};

/** A run that ended as a worker ends it. */
async function ended(
  args: Record<string, unknown> = {},
  record: RunRecord = failed,
  of = reactorId,
): Promise<string> {
  const { tenant_id: tenantId } = api.tenant;
  const id = await data.accept({ tenantId, reactorId: of, actorId, args });
  const [claimed] = await claimRuns(data.database, tenantId, 1);
  if (claimed?.id !== id) throw new Error('the run is not due');
  const run = await openRun(data.database, api.ctx.sealer, claimed);
  const keeping = { until: new Date(Date.now() + 60_000), tokenIds: [], runsMax: 1_000 };
  const end = { body: '{}', record, sights: [] };
  const isFailed = record.outcome !== 'completed';
  await finishRun(data.database, api.ctx.sealer, run, isFailed ? { ...end, keeping } : end);
  return id;
}

const rerun = (id: string, body: object = {}, key = api.tenant.private_key) =>
  api.post(`/runs/${id}/rerun`, body, key);
const waiting = () =>
  api.admin.query<Record<string, unknown>>(
    'SELECT id, reactor_id, actor_id, trace_id, reader_version FROM reactor_runs ORDER BY id',
  );
const callerId = async (): Promise<string> =>
  ((await api.get('/applications/key', api.tenant.private_key)).body as { id: string }).id;

it('a failed run is accepted again, as its caller, and says what happens again', async () => {
  const id = await ended({ secret: 'of the arguments' });
  const answer = await rerun(id).set('SVC-TRACE-ID', 'again');
  const { async_request_id: again } = answer.body as { async_request_id: string };
  expect([answer.status, answer.body]).toMatchObject([
    202,
    {
      asyncReactorRequestId: again,
      again: {
        ...{ reactor_id: reactorId, token_ids: [] },
        says: expect.arrayContaining([expect.stringContaining('No webhook is sent')]) as string[],
      },
    },
  ]);
  expect(again).not.toBe(id);
  expect(await waiting()).toEqual([
    {
      ...{ id: again, reactor_id: reactorId, trace_id: 'again', reader_version: 3 },
      actor_id: await callerId(),
    },
  ]);
  expect(
    await api.admin.query(
      `SELECT actor_id, entity_id, trace_id FROM audit_log WHERE operation = 'run.rerun'`,
    ),
  ).toEqual([{ actor_id: await callerId(), entity_id: id, trace_id: 'again' }]);
  expect(JSON.stringify(answer.body)).not.toContain('of the arguments');
  const listed = async () => (await api.get('/runs')).body as { data: { id: string }[] };
  const told = { id: again, status: 'pending', rerun_of: id };
  expect((await api.get(`/runs/${again}`)).body).toMatchObject(told);
  expect((await listed()).data.find((run) => run.id === again)).toMatchObject(told);
  expect((await api.get(`/runs/${id}`)).body).not.toHaveProperty('rerun_of');
  const [claimed] = await claimRuns(data.database, api.tenant.tenant_id, 1);
  if (claimed?.id !== again) throw new Error('the repetition is not due');
  const run = await openRun(data.database, api.ctx.sealer, claimed);
  await finishRun(data.database, api.ctx.sealer, run, { body: '{}', record: failed, sights: [] });
  const over = { ...told, status: 'failed' };
  expect((await api.get(`/runs/${again}`)).body).toMatchObject(over);
  expect((await listed()).data.find(({ id: one }) => one === again)).toMatchObject(over);
});

it('a run goes to its callback again only when that is asked for', async () => {
  const answer = await rerun(await ended(), { callback: true });
  expect(answer.body).toMatchObject({ again: { callback_host: 'a.example' } });
  expect(await waiting()).toMatchObject([{ reader_version: 1 }]);
});

it('runs say until when their arguments are kept', async () => {
  const [kept, other] = [await ended(), await ended({}, { ...failed, outcome: 'completed' })];
  const until = expect.any(String) as string;
  expect((await api.get(`/runs/${kept}`)).body).toMatchObject({ arguments_kept_until: until });
  expect((await api.get(`/runs/${other}`)).body).not.toHaveProperty('arguments_kept_until');
  const list = (await api.get(`/reactors/${reactorId}/runs?status=failed`)).body as {
    data: { id: string }[];
  };
  expect(list.data.find(({ id }) => id === kept)).toMatchObject({ arguments_kept_until: until });
});

describe('repeating is refused', () => {
  const tokens = async (): Promise<[mine: string, key: string]> => {
    const id = await api.storedToken({ type: 'token', data: 'x', containers: ['/pci/'] });
    const other = [
      { ...{ priority: 1, container: '/other/', transform: 'reveal' }, permissions: ['token:use'] },
    ];
    return [id, await api.keyWith('private', [], other)];
  };

  it('where the caller may not use a token of the arguments, whoever started the run', async () => {
    const [token, key] = await tokens();
    const id = await ended({ a: `{{${token}}}` });
    expect((await rerun(id, {}, key)).status).toBe(403);
    expect(await waiting()).toEqual([]);
    const { status, body } = await rerun(id);
    expect([status, body]).toMatchObject([202, { again: { token_ids: [token] } }]);
  });

  it('without token:use, to other tenants, and of what is no run', async () => {
    const id = await ended();
    expect((await rerun(id, {}, api.tenant.management_key)).status).toBe(403);
    expect((await rerun(id, {}, api.foreign.private_key)).status).toBe(404);
    expect((await rerun(randomUUID())).status).toBe(404);
    expect((await rerun('nothing')).status).toBe(404);
  });

  it.each<[string, () => Promise<string>, string]>([
    [
      'a sync run',
      () => data.run(api.tenant.tenant_id, failed, { resourceId: reactorId }),
      'Only a run in the background can be repeated.',
    ],
    [
      'a run that has not failed',
      () => ended({}, { ...failed, outcome: 'completed' }),
      'The run has not failed.',
    ],
    [
      'a run that waits',
      () => data.accept({ tenantId: api.tenant.tenant_id, reactorId, actorId }),
      'The run has not ended.',
    ],
    [
      'a run of a deleted reactor',
      () => ended({}, failed, randomUUID()),
      'The reactor of the run is gone.',
    ],
  ])('of %s', async (_, make, detail) => {
    expect((await rerun(await make())).body).toMatchObject({ status: 409, detail });
  });

  it('of a run by a body that is none', async () => {
    const id = await ended();
    for (const callback of [1, 'yes', {}]) {
      expect((await rerun(id, { callback })).body).toMatchObject({
        errors: { callback: [expect.any(String)] },
      });
    }
  });

  it('when the arguments are gone, and says how the run ended', async () => {
    const id = await ended();
    await api.admin.query('UPDATE kept_arguments SET kept_until = now() WHERE run_id = $1', [id]);
    expect((await rerun(id)).body).toMatchObject({
      ...{ status: 410, code: 'data_gone' },
      ended: { outcome: 'reactor_error', run_id: id },
    });
  });

  it('to a process that is older than the release that accepted the run', async () => {
    const id = await ended();
    await api.admin.query('UPDATE kept_arguments SET reader_version = 99 WHERE run_id = $1', [id]);
    expect((await rerun(id)).body).toMatchObject({ status: 503, code: 'newer_definition' });
  });
});

it('a repetition without a callback is repeated without one', async () => {
  const id = await ended();
  await rerun(id);
  const [claimed] = await claimRuns(data.database, api.tenant.tenant_id, 1);
  if (!claimed) throw new Error('no run is due');
  const run = await openRun(data.database, api.ctx.sealer, claimed);
  const keeping = { until: new Date(Date.now() + 60_000), tokenIds: [], runsMax: 1_000 };
  const end = { body: '{}', record: failed, sights: [], keeping };
  await finishRun(data.database, api.ctx.sealer, run, end);
  expect((await rerun(run.id, { callback: true })).status).toBe(409);
  expect((await rerun(run.id)).status).toBe(202);
});

it('a repetition with an idempotency key is accepted once', async () => {
  const id = await ended();
  const key = randomUUID();
  const [first, second] = [
    await rerun(id).set('SVC-IDEMPOTENCY-KEY', key),
    await rerun(id).set('SVC-IDEMPOTENCY-KEY', key),
  ];
  expect([first.status, second.status, second.headers['svc-idempotent-replay']]).toEqual([
    202,
    202,
    'true',
  ]);
  expect(second.body).toEqual(first.body);
  expect(await waiting()).toHaveLength(1);
});
