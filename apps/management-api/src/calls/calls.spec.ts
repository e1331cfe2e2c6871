import { randomUUID } from 'node:crypto';
import { timeOrderedId } from '@glovebox/database';
import { waitFor } from '@glovebox/testing';
import { DataPlane } from '../runs/spec-data-plane';
import { useTestApi } from '../spec-api';
import { summaryEntriesMax } from './calls.service';

const api = useTestApi();
let data: DataPlane;
let tenantId: string;

beforeAll(() => {
  data = new DataPlane(api.ctx, api.database.dataUrl);
  tenantId = api.tenant.tenant_id;
});
afterAll(() => data.close());
beforeEach(async () => {
  await api.admin.query('TRUNCATE calls, call_summary');
});

interface Call {
  readonly id: string;
  readonly path: string;
  readonly count: number;
  readonly [member: string]: unknown;
}
interface Part {
  readonly pagination: { readonly after?: string };
  readonly data: readonly Call[];
}

const list = async (query = '', key?: string): Promise<Part> => {
  const answer = await api.get(`/calls${query}`, key);
  expect([query, answer.status, answer.text]).toEqual([query, 200, answer.text]);
  return answer.body as Part;
};
const idsOf = async (query = ''): Promise<string[]> => (await list(query)).data.map(({ id }) => id);

describe('the list of calls', () => {
  it('shows all that is kept of a call', async () => {
    const [applicationId, proxyId, runId] = [randomUUID(), randomUUID(), randomUUID()];
    const cause = { phase: 'tls', reason: 'the certificate is self-signed', port: 443 };
    const id = timeOrderedId(Date.UTC(2026, 0, 31, 12));
    await data.call(
      tenantId,
      {
        ...{ method: 'POST', outcome: 'failed', status: 502, code: 'destination_unreachable' },
        ...{ cause, application_id: applicationId, proxy_id: proxyId, trace_id: 'order-7' },
        ...{ decided_ms: 0.25, asked_ms: 1.5, ended_ms: 2_000.5 },
        ...{ request_bytes: 5_000_000_000, answer_bytes: 0, token_ids: ['a token'] },
        request_run_id: runId,
      },
      id,
    );
    const shown = {
      id,
      method: 'POST',
      path: '/proxy',
      outcome: 'failed',
      status: 502,
      code: 'destination_unreachable',
      cause,
      application_id: applicationId,
      proxy_id: proxyId,
      trace_id: 'order-7',
      started_at: '2026-01-31T11:59:57.999Z',
      ended_at: '2026-01-31T12:00:00.000Z',
      phases: { decided_ms: 0.25, asked_ms: 1.5, ended_ms: 2_000.5 },
      request_bytes: 5_000_000_000,
      answer_bytes: 0,
      token_ids: ['a token'],
      transforms: { request: runId },
      count: 1,
    };
    expect((await list()).data).toEqual([shown]);
    expect((await api.get(`/calls/${id.toUpperCase()}`)).body).toEqual(shown);
  });

  it('says of an entry that it stands for several calls', async () => {
    await data.call(tenantId, { count: 17 });
    expect((await list()).data).toMatchObject([{ count: 17, sampled: true }]);
  });

  it('comes in parts, the newest first', async () => {
    const now = Date.now();
    const ids: string[] = [];
    for (let nth = 0; nth < 7; nth += 1) {
      ids.unshift(await data.call(tenantId, {}, timeOrderedId(now - 10_000 + nth)));
    }
    const seen: string[] = [];
    for (let after = ''; ;) {
      const part = await list(`?size=3&after=${after}`);
      seen.push(...part.data.map(({ id }) => id));
      if (part.pagination.after === undefined) break;
      after = part.pagination.after;
    }
    expect(seen).toEqual(ids);
  });

  it.each([
    ['proxy_id', 'proxy_id', randomUUID()],
    ['reactor_id', 'reactor_id', randomUUID()],
    ['application_id', 'application_id', randomUUID()],
    ['status', 'status', 503],
    ['outcome', 'outcome', 'left'],
    ['code', 'code', 'no_capacity'],
    ['trace_id', 'trace_id', 'order-7'],
  ])('%s selects calls', async (filter, column, value) => {
    await data.call(tenantId);
    const wanted = await data.call(tenantId, { [column]: value });
    expect(await idsOf(`?${filter}=${value}`)).toEqual([wanted]);
    expect(await idsOf(`?${filter}=`)).toHaveLength(2);
  });

  it('several outcomes select the calls of each, in one order', async () => {
    const now = Date.now();
    const ids: string[] = [];
    for (const [nth, outcome] of ['failed', 'left', 'destination_error', 'failed'].entries()) {
      ids.unshift(await data.call(tenantId, { outcome }, timeOrderedId(now - 10_000 + nth)));
    }
    const query = '?outcome=failed&outcome=destination_error';
    expect(await idsOf(query)).toEqual([ids[0], ids[1], ids[3]]);
    expect(await idsOf(`${query}&size=1&after=${ids[0]}`)).toEqual([ids[1]]);
  });

  it('from and to select calls by the time of their end, both inclusive', async () => {
    const at = Date.UTC(2026, 0, 31, 12);
    const ids: string[] = [];
    for (const nth of [-1, 0, 1, 2])
      ids.push(await data.call(tenantId, {}, timeOrderedId(at + nth)));
    const time = (ms: number): string => new Date(at + ms).toISOString();
    expect(await idsOf(`?from=${time(0)}&to=${time(1)}`)).toEqual([ids[2], ids[1]]);
  });

  it.each([
    ['path=/proxy', 'path'],
    ['proxy_id=x', 'proxy_id'],
    ['status=20', 'status'],
    ['status=abc', 'status'],
    ['outcome=bad', 'outcome'],
    ['outcome=failed&outcome=bad', 'outcome'],
    [`code=${'x'.repeat(65)}`, 'code'],
    ['from=yesterday', 'from'],
    ['size=101', 'size'],
    ['after=x', 'after'],
  ])('refuses ?%s', async (query, member) => {
    const answer = await api.get(`/calls?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ errors: { [member]: [expect.any(String)] } });
  });
});

it('a call of another tenant is neither listed nor found nor counted', async () => {
  const id = await data.call(api.foreign.tenant_id, { trace_id: 'theirs' });
  await data.count(api.foreign.tenant_id);
  expect((await list()).data).toEqual([]);
  expect((await list('?trace_id=theirs')).data).toEqual([]);
  expect((await api.get(`/calls/${id}`)).status).toBe(404);
  expect(await summary()).toMatchObject({ data: [] });
  expect((await list('', api.foreign.management_key)).data).toHaveLength(1);
});

it('the management role sees no call without a tenant, and those of its tenant without a condition', async () => {
  await data.call(tenantId);
  await data.call(api.foreign.tenant_id);
  await data.count(tenantId);
  await data.count(api.foreign.tenant_id);
  for (const table of ['calls', 'call_summary']) {
    const statement = `SELECT DISTINCT tenant_id FROM ${table}`;
    expect(await api.ctx.dataSource.query(statement)).toEqual([]);
    const seen = await api.ctx.searches.list(tenantId, (sql) => sql.query(statement));
    expect(seen).toEqual([{ tenant_id: tenantId }]);
    // The data plane adds, and reads nothing.
    await expect(data.database.query(statement)).rejects.toThrow('permission denied');
    await expect(data.database.query(`DELETE FROM ${table}`)).rejects.toThrow('permission denied');
    const change = `UPDATE ${table} SET tenant_id = tenant_id`;
    await expect(api.ctx.dataSource.query(change)).rejects.toThrow('permission denied');
  }
});

it('a call that is not there is not found', async () => {
  for (const id of ['x', randomUUID(), timeOrderedId()]) {
    expect((await api.get(`/calls/${id}`)).status).toBe(404);
  }
});

it.each(['/calls', `/calls/${timeOrderedId()}`, '/calls/summary'])(
  '%s needs a key with log:read',
  async (path) => {
    expect((await api.get(path, 'no key')).status).toBe(401);
    const other = await api.keyWith('management', ['tenant:read']);
    expect((await api.get(path, other)).status).toBe(403);
  },
);

describe('calls of the management API', () => {
  const logged = (traceId: string): Promise<readonly Call[]> =>
    waitFor(async () => {
      const { data: found } = await list(`?trace_id=${traceId}`);
      return found.length > 0 ? found : undefined;
    }) as Promise<readonly Call[]>;
  const traced = (path: string, traceId: string, key = api.tenant.management_key) =>
    api.get(path, key).set('SVC-TRACE-ID', traceId);

  it('have the template of their path, and no part of the path itself', async () => {
    const { status } = await traced('/reactors/the-secret?name=another-secret', 'none');
    expect(status).toBe(404);
    const [call] = await logged('none');
    expect(call).toMatchObject({
      ...{ method: 'GET', path: '/reactors/{id}', outcome: 'failed', status: 404 },
      ...{ code: 'not_found', token_ids: [] },
    });
  });

  it('name the token of their path if there is one', async () => {
    const id = await api.storedToken({ type: 'token', data: 'sesame' });
    const key = api.tenant.private_key;
    await traced(`/tokens/${id}`, 'shown', key);
    await traced('/tokens/4111111111111111', 'no-token', key);
    expect(await logged('shown')).toMatchObject([
      { path: '/tokens/{id}', token_ids: [id], outcome: 'completed', status: 200, count: 1 },
    ]);
    expect(await logged('no-token')).toMatchObject([{ status: 404, token_ids: [] }]);
    const rows = await api.admin.query<{ row: string }>('SELECT calls::text AS row FROM calls');
    expect(JSON.stringify(rows)).not.toMatch(/4111|sesame/);
  });

  it('name the token that they made, and none that was refused', async () => {
    const create = (id: string, traceId: string) =>
      api
        .post('/tokens', { id, type: 'token', data: 'sesame' }, api.tenant.private_key)
        .set('SVC-TRACE-ID', traceId);
    const id = randomUUID();
    expect((await create(id, 'made')).status).toBe(201);
    expect((await create(id, 'refused')).status).toBe(409);
    expect(await logged('made')).toMatchObject([{ path: '/tokens', token_ids: [id] }]);
    expect(await logged('refused')).toMatchObject([{ status: 409, token_ids: [] }]);
  });

  it('have their sizes, their phases and their application', async () => {
    const body = { name: 'f', code: 'module.exports = () => 1' };
    const answer = await api.post('/reactor-formulas', body).set('SVC-TRACE-ID', 'sizes');
    const [call] = await logged('sizes');
    expect(call).toMatchObject({
      request_bytes: JSON.stringify(body).length,
      answer_bytes: answer.text.length,
      application_id: expect.any(String) as string,
      phases: { decided_ms: expect.any(Number) as number, ended_ms: expect.any(Number) as number },
    });
  });

  it('are in no log without a valid key, nor where they read the log', async () => {
    await traced('/reactors', 'stranger', 'no key');
    await traced('/calls', 'own');
    await traced(`/calls/${timeOrderedId()}`, 'own');
    await traced('/calls/summary', 'own');
    await traced('/overview', 'own');
    await traced('/tenants/self', 'later');
    await logged('later');
    expect((await list('?trace_id=stranger')).data).toEqual([]);
    expect((await list('?trace_id=own')).data).toEqual([]);
  });
});

const summary = async (query = ''): Promise<unknown> => {
  const answer = await api.get(`/calls/summary${query}`);
  expect([query, answer.status, answer.text]).toEqual([query, 200, answer.text]);
  return answer.body;
};

describe('the summary of calls', () => {
  const at = new Date(Date.UTC(2026, 0, 31, 12));
  const range = 'from=2026-01-31T11:00:00Z&to=2026-01-31T12:30:00Z';

  it('adds up what each process has counted, the newest minute first', async () => {
    const proxyId = randomUUID();
    await data.count(tenantId, { proxy_id: proxyId, calls: 3, duration_ms: 10.25 }, at);
    await data.count(tenantId, { proxy_id: proxyId, calls: 4, duration_ms: 20.5 }, at);
    await data.count(
      tenantId,
      { path: '/tokens/{id}', outcome: 'failed' },
      new Date(at.getTime() + 60_000),
    );
    const latencies = (nth: number): number[] =>
      Array.from({ length: 16 }, (_, place) => (place === 1 ? nth : 0));
    expect(await summary(`?${range}`)).toEqual({
      from: '2026-01-31T11:00:00.000Z',
      to: '2026-01-31T12:30:00.000Z',
      latency_bounds_ms: expect.arrayContaining([1, 60_000]) as number[],
      data: [
        {
          ...{ minute: '2026-01-31T12:01:00.000Z', resource: '/tokens/{id}', outcome: 'failed' },
          ...{ calls: 1, duration_ms: 2, latencies: latencies(1) },
        },
        {
          ...{ minute: '2026-01-31T12:00:00.000Z', resource: '/proxy', proxy_id: proxyId },
          ...{ outcome: 'completed', calls: 7, duration_ms: 30.75, latencies: latencies(2) },
        },
      ],
    });
  });

  it.each([
    ['proxy_id', 'proxy_id', randomUUID()],
    ['reactor_id', 'reactor_id', randomUUID()],
    ['resource', 'path', '/tokens'],
    ['outcome', 'outcome', 'left'],
  ])('%s selects counts', async (filter, column, value) => {
    await data.count(tenantId, {}, at);
    await data.count(tenantId, { [column]: value, calls: 5 }, at);
    const { data: entries } = (await summary(
      `?${range}&${filter}=${encodeURIComponent(value)}`,
    )) as { data: { calls: number }[] };
    expect(entries.map(({ calls }) => calls)).toEqual([5]);
  });

  it('shows the last hour by default, and calls of this API a few seconds after their end', async () => {
    await data.count(tenantId, {}, at);
    const before = (await summary()) as { data: { minute: string }[] };
    expect(before.data.map(({ minute }) => new Date(minute))).not.toContainEqual(at);
    await api.get('/tenants/self');
    const completed = { outcome: 'completed' };
    await waitFor(
      async () =>
        expect(await summary('?resource=/tenants/self')).toMatchObject({
          data: expect.arrayContaining([expect.objectContaining(completed)]) as unknown,
        }) === undefined,
      { timeoutMs: 15_000, intervalMs: 250 },
    );
  });

  it('shows each minute of a day once, whatever its place', async () => {
    const minutes = [0, 1, 9, 10, 11, 29, 30, 31, 700, 1_438, 1_439, 1_440];
    for (const minute of minutes) {
      await data.count(tenantId, { calls: minute + 1 }, new Date(at.getTime() - minute * 60_000));
    }
    const { data: entries } = (await summary(
      '?from=2026-01-30T12:00:00Z&to=2026-01-31T12:00:00Z',
    )) as { data: { minute: string; calls: number }[] };
    expect(entries.map(({ calls }) => calls)).toEqual(minutes.map((minute) => minute + 1));
  });

  it('leaves out the oldest minutes where there is more than an answer shows', async () => {
    for (const minute of [0, 1]) {
      await data.database.query(
        `INSERT INTO call_summary (tenant_id, id, minute, path, proxy_id, outcome, calls, duration_ms,
           latencies, created_at)
         SELECT $1, overlay(lowest_id_at($2)::text PLACING right(gen_random_uuid()::text, 21) FROM 16)::uuid,
           $2, '/proxy', gen_random_uuid(), 'completed', 1, 1, array_fill(0, '{16}'), $2
         FROM generate_series(1, $3)`,
        [tenantId, new Date(at.getTime() + minute * 60_000), summaryEntriesMax * 0.75],
      );
    }
    const body = (await summary(`?${range}`)) as { data: { minute: string }[] };
    expect(body).toMatchObject({ truncated: true });
    expect(body.data).toHaveLength(summaryEntriesMax * 0.75);
    expect(new Set(body.data.map(({ minute }) => minute))).toEqual(
      new Set(['2026-01-31T12:01:00.000Z']),
    );
  });

  it.each([
    ['size=3', 'size'],
    ['from=2026-01-31T12:00:00Z&to=2026-01-31T11:00:00Z', 'from'],
    ['from=2026-01-30T11:59:59Z&to=2026-01-31T12:00:00Z', 'from'],
    ['outcome=bad', 'outcome'],
    ['proxy_id=x', 'proxy_id'],
  ])('refuses ?%s', async (query, member) => {
    const answer = await api.get(`/calls/summary?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ errors: { [member]: [expect.any(String)] } });
  });
});
