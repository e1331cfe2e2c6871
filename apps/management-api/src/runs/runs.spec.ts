import { randomUUID } from 'node:crypto';
import { timeOrderedId } from '@glovebox/database';
import { waitFor } from '@glovebox/testing';
import { useTestApi } from '../spec-api';
import { DataPlane } from './spec-data-plane';

const api = useTestApi();
let data: DataPlane;
let tenantId: string;
let reactorId: string;
let proxyId: string;
let callerId: string;

beforeAll(async () => {
  data = new DataPlane(api.ctx, api.database.dataUrl);
  tenantId = api.tenant.tenant_id;
  const formula = await api.made('/reactor-formulas', {
    name: 'f',
    code: 'module.exports = () => 1',
  });
  const reactor = { name: 'r', configuration: {}, formula: { id: formula.id } };
  reactorId = (await api.made('/reactors', reactor)).id;
  proxyId = (await api.made('/proxies', { name: 'p', destination_url: 'https://a.example' })).id;
  callerId = ((await api.get('/applications/key', api.tenant.private_key)).body as { id: string })
    .id;
});
afterAll(() => data.close());
beforeEach(async () => {
  for (const table of ['reactor_runs', 'ended_runs', 'webhook_deliveries', 'ended_deliveries']) {
    await api.admin.query(`DELETE FROM ${table}`);
  }
});

interface Part {
  pagination: { page_size: number; after?: string };
  data: { id: string; status: string }[];
}

const list = async (path: string): Promise<Part> => {
  const answer = await api.get(path);
  expect([path, answer.status, answer.text]).toEqual([path, 200, answer.text]);
  return answer.body as Part;
};
const idsOf = async (path: string): Promise<string[]> =>
  (await list(path)).data.map(({ id }) => id);
const get = async (path: string, key?: string) => {
  const answer = await api.get(path, key);
  return { status: answer.status, body: answer.body as Record<string, unknown> };
};

describe('the list of runs', () => {
  it('shows all that is kept of a run, and nothing of its texts', async () => {
    const startedAt = Date.UTC(2026, 0, 31, 12);
    const id = await data.run(
      tenantId,
      {
        outcome: 'reactor_error',
        status: 402,
        startedAt,
        durationMs: 20,
        queuedMs: 4,
        argumentNames: ['card.number'],
        tokenIds: ['a token'],
        message: 'sesame',
        stack: [{ function: 'sesame', line: 3, column: 9 }],
        lines: [{ at: startedAt, level: 'info', text: 'sesame' }],
        position: { line: 3, column: 9 },
      },
      { resourceId: reactorId, applicationId: callerId, traceId: 'order-7' },
    );
    expect((await list('/runs')).data).toEqual([
      {
        id,
        kind: 'reactor',
        resource_id: reactorId,
        application_id: callerId,
        mode: 'sync',
        status: 'failed',
        outcome: 'reactor_error',
        http_status: 402,
        argument_names: ['card.number'],
        token_ids: ['a token'],
        trace_id: 'order-7',
        attempt: 1,
        queued_ms: 4,
        duration_ms: 20,
        position: { line: 3, column: 9 },
        created_at: '2026-01-31T12:00:00.000Z',
        started_at: '2026-01-31T12:00:00.000Z',
        ended_at: '2026-01-31T12:00:00.020Z',
      },
    ]);
  });

  it('shows async runs from their acceptance on, beside those that have ended', async () => {
    const ended = await data.run(tenantId, {}, { runId: timeOrderedId(Date.now() - 1_000) });
    const waiting = await data.accept({ tenantId, reactorId, actorId: callerId });
    const [first, second] = (await list('/runs')).data;
    expect(first).toMatchObject({ id: waiting, status: 'pending', mode: 'async', attempt: 1 });
    expect(second).toMatchObject({ id: ended, status: 'completed' });
    await api.admin.query(`UPDATE reactor_runs SET status = 'running', fence = 2`);
    expect((await list('/runs?status=running')).data).toMatchObject([{ id: waiting, attempt: 2 }]);
  });

  it('comes in parts, the newest first, and its cursor misses nothing that moves meanwhile', async () => {
    const now = Date.now();
    const ids: string[] = [];
    for (let nth = 0; nth < 7; nth += 1) {
      ids.unshift(await data.run(tenantId, {}, { runId: timeOrderedId(now - 10_000 + nth) }));
    }
    ids.unshift(await data.accept({ tenantId, reactorId, actorId: callerId }));
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const { pagination, data: rows } = await list(
        `/runs?size=3${after === undefined ? '' : `&after=${after}`}`,
      );
      expect(pagination.page_size).toBe(3);
      expect(rows.length).toBe(pagination.after === undefined ? 2 : 3);
      seen.push(...rows.map(({ id }) => id));
      after = pagination.after;
      // A newer run does not shift the parts behind the cursor.
      await data.run(tenantId, {}, { runId: timeOrderedId(now + 60_000) });
    } while (after !== undefined);
    expect(seen).toEqual(ids);
    expect(await idsOf(`/runs?after=${ids.at(-1)}`)).toEqual([]);
    expect((await list(`/runs?after=${ids[0]?.toUpperCase()}&size=1`)).data[0]?.id).toBe(ids[1]);
  });

  it('is filtered by resource, status, kind, trace and time, alone and together', async () => {
    const day = (date: number): number => Date.UTC(2026, 0, date);
    const of = (
      resourceId: string,
      at: number,
      more: object = {},
      outcome = 'completed' as const,
    ) => data.run(tenantId, { outcome }, { runId: timeOrderedId(at), resourceId, ...more });
    const first = await of(reactorId, day(1), { traceId: 'one' });
    const second = await of(reactorId, day(2), {}, 'reactor_timeout' as 'completed');
    const third = await of(proxyId, day(3), { kind: 'transform', mode: 'request' });
    const waiting = await data.accept({ tenantId, reactorId, actorId: callerId });
    const cases: [string, string[]][] = [
      ['', [waiting, third, second, first]],
      [`resource_id=${reactorId.toUpperCase()}`, [waiting, second, first]],
      [`resource_id=${proxyId}`, [third]],
      ['status=completed', [third, first]],
      ['status=failed', [second]],
      ['status=pending', [waiting]],
      ['kind=transform', [third]],
      ['kind=reactor', [waiting, second, first]],
      ['trace_id=one', [first]],
      ['trace_id=accepted', [waiting]],
      ['from=2026-01-02T00:00:00Z', [waiting, third, second]],
      ['to=2026-01-02T00:00:00Z', [second, first]],
      ['from=2026-01-02T00:00:00Z&to=2026-01-02T23:59:59.999Z', [second]],
      [`resource_id=${reactorId}&status=completed&trace_id=one`, [first]],
      [`resource_id=${randomUUID()}`, []],
      ['from=2030-01-01T00:00:00Z', []],
      ['to=1960-01-01T00:00:00Z', []],
    ];
    for (const [query, ids] of cases) {
      expect([query, await idsOf(`/runs?${query}`)]).toEqual([query, ids]);
    }
    expect(await idsOf(`/reactors/${reactorId}/runs`)).toEqual([waiting, second, first]);
    expect(await idsOf(`/reactors/${reactorId}/runs?status=failed`)).toEqual([second]);
    expect(await idsOf(`/proxies/${proxyId}/runs`)).toEqual([third]);
  });

  it.each([
    ['after=1', 'after'],
    [`after=${randomUUID()}&after=${randomUUID()}`, 'after'],
    ['resource_id=1', 'resource_id'],
    ['status=done', 'status'],
    ['kind=proxy', 'kind'],
    ['from=yesterday', 'from'],
    ['to=2026-01-01', 'to'],
    ['from=2026-02-30T00:00:00Z', 'from'],
    [`trace_id=${'x'.repeat(65)}`, 'trace_id'],
    ['trace_id=%00', 'trace_id'],
    ['size=0', 'size'],
    ['size=101', 'size'],
    ['page=2', 'page'],
    ['tenant_id=1', 'tenant_id'],
  ])('refuses %s with 400', async (query, member) => {
    for (const path of ['/runs', `/reactors/${reactorId}/runs`, `/proxies/${proxyId}/runs`]) {
      const { status, body } = await get(`${path}?${query}`);
      expect([path, status, Object.keys(body.errors as object)]).toEqual([path, 400, [member]]);
    }
  });

  it('of one resource takes no other resource', async () => {
    const { status } = await get(`/reactors/${reactorId}/runs?resource_id=${proxyId}`);
    expect(status).toBe(400);
  });

  it('shows nothing of another tenant', async () => {
    await data.run(api.foreign.tenant_id, {}, { resourceId: reactorId });
    expect(await idsOf('/runs')).toEqual([]);
    expect(await idsOf(`/runs?resource_id=${reactorId}`)).toEqual([]);
  });

  it('needs log:read', async () => {
    const other = await api.keyWith('management', ['reactor:read', 'proxy:read', 'tenant:read']);
    const reader = await api.keyWith('management', ['log:read']);
    const id = await data.run(tenantId, {}, { resourceId: reactorId });
    for (const path of [
      '/runs',
      `/runs/${id}`,
      `/reactors/${reactorId}/runs/${id}`,
      `/reactors/${reactorId}/runs`,
      `/proxies/${proxyId}/runs`,
    ]) {
      expect((await get(path, other)).status).toBe(403);
      expect((await get(path, 'nobody')).status).toBe(401);
      expect((await get(path, reader)).status).toBe(200);
    }
  });
});

describe('a run', () => {
  it('is shown with its output and with the attempts of its webhook', async () => {
    const at = Date.UTC(2026, 0, 31, 12);
    const id = await data.run(
      tenantId,
      {
        ...{ outcome: 'reactor_error', message: 'declined: 51' },
        stack: [
          { function: 'charge', line: 3, column: 9 },
          { line: 12, column: 5 },
        ],
        lines: [{ at, level: 'warn', text: 'the bank declined' }],
      },
      { resourceId: reactorId, mode: 'async' },
    );
    await data.webhook(tenantId, { id, ended: { status: 'failed' } });
    const { status, body } = await get(`/reactors/${reactorId}/runs/${id.toUpperCase()}`);
    expect([status, body]).toMatchObject([
      200,
      {
        id,
        message: 'declined: 51',
        stack: [
          { function: 'charge', line: 3, column: 9 },
          { line: 12, column: 5 },
        ],
        lines: [{ at: '2026-01-31T12:00:00.000Z', level: 'warn', text: 'the bank declined' }],
        webhook: {
          status: 'failed',
          attempts: [{ at: new Date(0).toISOString(), ms: 5, status: 500, outcome: 'rejected' }],
        },
      },
    ]);
  });

  it('of a transform is shown under its proxy', async () => {
    const more = { resourceId: proxyId, kind: 'transform', mode: 'response' } as const;
    const id = await data.run(tenantId, {}, more);
    expect(await get(`/proxies/${proxyId}/runs/${id}`)).toMatchObject({
      status: 200,
      body: { id, kind: 'transform', mode: 'response', lines: [] },
    });
    expect((await get(`/reactors/${reactorId}/runs/${id}`)).status).toBe(404);
  });

  it('is shown while it waits', async () => {
    const id = await data.accept({ tenantId, reactorId, actorId: callerId });
    expect(await get(`/reactors/${reactorId}/runs/${id}`)).toMatchObject({
      status: 200,
      body: { id, status: 'pending', lines: [] },
    });
  });

  it('is shown as long as it is kept, also when its reactor or proxy is deleted', async () => {
    const { body } = await api.get(`/reactors/${reactorId}`);
    const { formula } = body as { formula: { id: string } };
    const reactor = { name: 'gone', configuration: {}, formula: { id: formula.id } };
    const gone = {
      reactors: await api.made('/reactors', reactor),
      proxies: await api.made('/proxies', { name: 'gone', destination_url: 'https://a.example' }),
    };
    for (const [kind, { id: resourceId }] of Object.entries(gone)) {
      const id = await data.run(
        tenantId,
        { lines: [{ at: 0, level: 'info', text: 'its last words' }] },
        { resourceId },
      );
      expect((await api.delete(`/${kind}/${resourceId}`)).status).toBe(204);
      for (const path of [
        `/runs/${id.toUpperCase()}`,
        `/${kind}/${resourceId.toUpperCase()}/runs/${id}`,
      ]) {
        const run = await get(path);
        expect([path, run.status, run.body.lines]).toMatchObject([
          path,
          200,
          [{ text: 'its last words' }],
        ]);
      }
      expect(await idsOf(`/runs?resource_id=${resourceId}`)).toEqual([id]);
    }
  });

  it('whose id has no time in it is found', async () => {
    const id = await data.run(tenantId, {}, { runId: randomUUID(), resourceId: reactorId });
    expect((await get(`/reactors/${reactorId}/runs/${id}`)).status).toBe(200);
  });

  it('that is unknown, foreign or of another resource is 404', async () => {
    const foreign = await data.run(api.foreign.tenant_id, {}, { resourceId: reactorId });
    const other = await data.run(tenantId);
    for (const id of [foreign, other, randomUUID(), 'nope', '%00']) {
      expect((await get(`/reactors/${reactorId}/runs/${id}`)).status).toBe(404);
      expect((await get(`/proxies/${proxyId}/runs/${id}`)).status).toBe(404);
      if (id !== other) expect((await get(`/runs/${id}`)).status).toBe(404);
    }
    const mine = await data.run(tenantId, {}, { resourceId: reactorId });
    expect((await get(`/reactors/${randomUUID()}/runs/${mine}`)).status).toBe(404);
  });
});

describe('the result of an async run', () => {
  const path = (id: string): string => `/reactors/${reactorId}/results/${id}`;
  const result = (id: string, key = api.tenant.private_key) => get(path(id), key);
  const end = (id: string, record: Parameters<DataPlane['run']>[1] = {}) =>
    data.run(tenantId, record, {
      runId: id,
      resourceId: reactorId,
      applicationId: callerId,
      mode: 'async',
    });

  it('is pending until the run has ended, and then what the webhook carries', async () => {
    const id = await data.accept({ tenantId, reactorId, actorId: callerId });
    expect(await result(id)).toEqual({ status: 200, body: { status: 'pending' } });
    await api.admin.query(`UPDATE reactor_runs SET status = 'running'`);
    expect(await result(id)).toEqual({ status: 200, body: { status: 'pending' } });
    await api.admin.query('DELETE FROM reactor_runs');
    await end(id);
    await data.webhook(tenantId, { id, body: '{"raw":{"a":[1,"x"]}}' });
    const completed = { status: 'completed', result: { raw: { a: [1, 'x'] } } };
    expect(await result(id)).toEqual({ status: 200, body: completed });
  });

  it('stays when the webhook has ended, delivered or not', async () => {
    for (const status of ['delivered', 'failed'] as const) {
      const id = await end(timeOrderedId());
      await data.webhook(tenantId, { id, ended: { status } });
      expect((await result(id)).body).toEqual({ status: 'completed', result: { raw: 1 } });
    }
  });

  it('of a run that failed is its error', async () => {
    const id = await end(timeOrderedId(), { outcome: 'reactor_timeout', status: 504 });
    const error = {
      title: 'The reactor did not answer in time.',
      status: 504,
      code: 'reactor_timeout',
    };
    await data.webhook(tenantId, { id, body: JSON.stringify(error) });
    expect((await result(id)).body).toEqual({ status: 'failed', error });
  });

  it('of a run that could not be opened is its error although it has no webhook', async () => {
    const id = await end(timeOrderedId(), { outcome: 'internal_error', status: 500 });
    expect((await result(id)).body).toMatchObject({
      status: 'failed',
      error: { status: 500, code: 'internal_error' },
    });
  });

  it('that does not say what it shows is 410 and says how it ended', async () => {
    const id = await end(timeOrderedId());
    await data.webhook(tenantId, { id, body: '{"raw":"old"}', sights: null });
    const answer = await result(id);
    expect(answer).toMatchObject({
      status: 410,
      body: { code: 'data_gone', ended: { outcome: 'completed', http_status: 200, run_id: id } },
    });
  });

  it('is sent as it was stored, and never parsed', async () => {
    const id = await end(timeOrderedId());
    await data.webhook(tenantId, { id, body: '{"raw": 1.50, "raw": [ ]}' });
    const { text } = await api.get(path(id), api.tenant.private_key);
    expect(text).toBe('{"status":"completed","result":{"raw": 1.50, "raw": [ ]}}');
  });

  it('waits for a turn of its tenant where it is large', async () => {
    const [large, small] = [await end(timeOrderedId()), await end(timeOrderedId())];
    await data.webhook(tenantId, { id: large, body: JSON.stringify({ raw: 'x'.repeat(200_000) }) });
    await data.webhook(tenantId, { id: small });
    const { shares } = api.ctx.vault.largeOpenings;
    const endTurn = await shares.take(tenantId);
    const answer = result(large);
    await waitFor(() => shares.state.waiting === 1);
    expect((await result(small)).status).toBe(200);
    endTurn();
    expect(await answer).toMatchObject({ status: 200, body: { status: 'completed' } });
  });

  it('that is pending leaves no line in the audit log, and each other reading leaves one', async () => {
    const waiting = await data.accept({ tenantId, reactorId, actorId: callerId });
    const ended = await end(timeOrderedId());
    await data.webhook(tenantId, { id: ended });
    for (const id of [waiting, ended, ended]) expect((await result(id)).status).toBe(200);
    const lines = (id: string) => get(`/logs?operation=result.read&entity_id=${id}`);
    expect((await lines(waiting)).body.data).toEqual([]);
    const line = { entity_type: 'run', outcome: 'success' };
    expect((await lines(ended)).body.data).toMatchObject([line, line]);
  });

  it('is 404 a day after the run', async () => {
    const dayMs = 24 * 60 * 60 * 1_000;
    const id = await end(timeOrderedId(), { startedAt: Date.now() - dayMs - 1_000 });
    await data.webhook(tenantId, { id, ended: { status: 'delivered' } });
    expect((await result(id)).status).toBe(404);
    const young = await end(timeOrderedId(), { startedAt: Date.now() - dayMs + 60_000 });
    await data.webhook(tenantId, { id: young, ended: { status: 'delivered' } });
    expect((await result(young)).status).toBe(200);
  });

  it('is 404 for an application that did not start the run, and for an unknown run or reactor', async () => {
    const id = await end(timeOrderedId());
    await data.webhook(tenantId, { id });
    const other = await api.keyWith('private', ['token:use']);
    expect((await result(id, other)).status).toBe(404);
    expect((await result(id, api.foreign.private_key)).status).toBe(404);
    for (const unknown of [randomUUID(), timeOrderedId(), 'nope']) {
      expect((await result(unknown)).status).toBe(404);
    }
    const elsewhere = `/reactors/${randomUUID()}/results/${id}`;
    expect((await get(elsewhere, api.tenant.private_key)).status).toBe(404);
  });

  it('is 404 for a sync run', async () => {
    const more = { resourceId: reactorId, applicationId: callerId, mode: 'sync' } as const;
    expect((await result(await data.run(tenantId, {}, more))).status).toBe(404);
  });

  it('needs a key with token:use', async () => {
    const id = timeOrderedId();
    expect((await get(path(id), 'nobody')).status).toBe(401);
    expect((await get(path(id))).status).toBe(403);
    expect((await result(id, await api.keyWith('private', ['token:read']))).status).toBe(403);
  });
});
