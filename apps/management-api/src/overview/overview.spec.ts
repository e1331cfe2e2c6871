import { randomUUID } from 'node:crypto';
import { countCalls } from '@glovebox/calls';
import { timeOrderedId } from '@glovebox/database';
import { countedRowsMax } from '@glovebox/runs';
import { waitFor } from '@glovebox/testing';
import { eachInTenant } from '../database/in-tenant';
import { DataPlane } from '../runs/spec-data-plane';
import { useTestApi } from '../spec-api';
import { overviewResourcesMax, timeOf, type Overview } from './overview.dto';

const api = useTestApi();
let data: DataPlane;
let tenantId: string;

beforeAll(() => {
  data = new DataPlane(api.ctx, api.database.dataUrl);
  tenantId = api.tenant.tenant_id;
});
afterAll(() => data.close());
beforeEach(async () => {
  await api.admin.query(
    'TRUNCATE calls, call_summary, call_buckets, reactor_runs, webhook_deliveries, ended_deliveries',
  );
});

async function overview(query = '', key?: string): Promise<Overview> {
  const answer = await api.get(`/overview${query}`, key);
  expect([query, answer.status, answer.text]).toEqual([query, 200, answer.text]);
  return answer.body as Overview;
}

/** What was counted is shown for some milliseconds more. */
const overviewOf = (calls: number, query = ''): Promise<Overview> =>
  waitFor(async () => {
    const shown = await overview(query);
    return shown.totals.calls === calls ? shown : undefined;
  }) as Promise<Overview>;

const latencies = (counts: Record<number, number>): number[] =>
  Array.from({ length: 16 }, (_, nth) => counts[nth] ?? 0);
const ago = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);

describe('the calls of the overview', () => {
  it('are added up for each resource, with failures and times, and under its name', async () => {
    const [proxyId, gone] = [randomUUID(), randomUUID()];
    // By hand, because a call of the API would be counted as well.
    await api.admin.query(
      `INSERT INTO proxies (id, tenant_id, name, key, key_hash, destination_url, require_auth,
         detokenize, isolation, created_at)
       VALUES ($1, $2, 'The bank', '', 'none', 'https://example.com', true, true, 'warm', now())`,
      [proxyId, tenantId],
    );
    const one = { proxy_id: proxyId, calls: 90, latencies: latencies({ 2: 90 }) };
    await data.count(tenantId, one, ago(30));
    await data.count(tenantId, { ...one, calls: 5, latencies: latencies({ 7: 5 }) }, ago(20));
    const failed = { outcome: 'failed', calls: 5, latencies: latencies({ 7: 5 }) };
    await data.count(tenantId, { ...one, ...failed }, ago(20));
    await data.count(tenantId, { reactor_id: gone, path: '/reactors/{id}/react', calls: 7 });
    await data.count(tenantId, { path: '/tokens', calls: 9, outcome: 'destination_error' });
    await data.count(tenantId, { outcome: 'left', path: '/tokens' });
    await data.count(tenantId, { calls: 1_000 }, ago(61));
    await data.count(api.foreign.tenant_id, { calls: 10_000 });
    const shown = await overviewOf(117);
    expect(shown).toMatchObject({
      hours: 1,
      bucket_minutes: 1,
      totals: { calls: 117, failed: 14 },
      resources: [
        { resource: '/tokens', calls: 10, failed: 9, p50_ms: 1.75 },
        {
          ...{ resource: '/proxy', proxy_id: proxyId, name: 'The bank', calls: 100, failed: 5 },
          // Half of the way, by number, from 2.5 to 5 ms, and from 100 to 250 ms.
          ...{ p50_ms: 3.89, p95_ms: 175 },
        },
        { resource: '/reactors/{id}/react', reactor_id: gone, calls: 7, failed: 0 },
      ],
    });
    expect(shown.resources).toHaveLength(3);
    expect(shown).not.toHaveProperty('truncated');
    expect(shown.resources[2]).not.toHaveProperty('name');
  });

  it.each([
    ['1', 1, 60],
    ['24', 15, 96],
    ['168', 60, 168],
  ])('of %s hours have a bucket for each %i minutes', async (hours, minutes, buckets) => {
    const { from } = timeOf(hours as '1');
    const inside = (nth: number): Date => new Date(from.getTime() + nth * minutes * 60_000);
    await data.count(tenantId, { calls: 100 }, new Date(from.getTime() - 60_000));
    await data.count(tenantId, { calls: 1 }, inside(0));
    await data.count(tenantId, { calls: 2, outcome: 'failed' }, inside(1));
    await data.count(tenantId, { calls: 4 }, new Date(inside(2).getTime() - 60_000));
    await data.count(tenantId, { calls: 8 }, inside(buckets - 1));
    const { series, ...shown } = await overviewOf(15, `?hours=${hours}`);
    expect(shown).toMatchObject({ hours: Number(hours), bucket_minutes: minutes });
    expect(series.map(({ at }) => at)).toEqual(
      Array.from({ length: buckets }, (_, nth) => inside(nth).toISOString()),
    );
    expect(shown.from).toBe(series[0]?.at);
    const bucketOf = (nth: number) => ({ calls: series[nth]?.calls, failed: series[nth]?.failed });
    expect([bucketOf(0), bucketOf(1), bucketOf(2), bucketOf(buckets - 1)]).toEqual([
      { calls: 1, failed: 0 },
      { calls: 6, failed: 2 },
      { calls: 0, failed: 0 },
      { calls: 8, failed: 0 },
    ]);
  });

  it('are all in the totals, although it shows the 100 worst resources alone', async () => {
    const resources = overviewResourcesMax + 1;
    await data.database.query(
      `INSERT INTO call_summary (tenant_id, id, minute, path, proxy_id, outcome, calls, duration_ms,
         latencies, created_at)
       SELECT $1, overlay(lowest_id_at($2)::text PLACING right(gen_random_uuid()::text, 21) FROM 16)::uuid,
         $2, '/proxy', gen_random_uuid(), 'failed', nth, 1, array_fill(1, '{16}'), $2
       FROM generate_series(1, $3) nth`,
      [tenantId, ago(5), resources],
    );
    const shown = await overviewOf((resources * (resources + 1)) / 2);
    expect(shown.truncated).toBe(true);
    expect(shown.resources.map(({ calls }) => calls)).toEqual(
      Array.from({ length: overviewResourcesMax }, (_, nth) => resources - nth),
    );
  });

  it('are the same added up when they are stored, by whoever at once, and of before that', async () => {
    const { from } = timeOf('168');
    const proxies = Array.from({ length: 5 }, () => randomUUID());
    const batch = (nth: number) =>
      Array.from({ length: 200 }, (_, row) => {
        const minute = new Date(from.getTime() + ((nth * 200 + row) % 10_079) * 60_000);
        return {
          ...{ id: timeOrderedId(minute.getTime()), tenant_id: tenantId, minute, path: '/proxy' },
          ...{ proxy_id: proxies[row % 5], outcome: row % 3 === 0 ? 'failed' : 'completed' },
          ...{ calls: 1 + row, duration_ms: 1, created_at: minute },
          latencies: latencies({ [row % 16]: 1 + row }),
        };
      });
    const store = (rows: object[]) =>
      data.database.query(
        `INSERT INTO call_summary SELECT * FROM json_populate_recordset(NULL::call_summary, $1)
         ON CONFLICT DO NOTHING`,
        [JSON.stringify(rows)],
      );
    // Each batch comes twice, as from a process that does not know whether it was stored.
    const batches = Array.from({ length: 50 }, (_, nth) => batch(nth));
    await Promise.all([...batches, ...batches].map(store));
    const since = (time: string) =>
      api.admin.query(`UPDATE call_buckets_since SET since = ${time}`);
    const sql = eachInTenant(api.ctx.dataSource, tenantId);
    const countedBy = async (hours: '24' | '168') => {
      const { resources, buckets } = await countCalls(sql, tenantId, timeOf(hours));
      const byTime = buckets.toSorted((one, other) => one.at.getTime() - other.at.getTime());
      return {
        byTime,
        resources: resources.toSorted((a, b) => (a.proxyId ?? '').localeCompare(b.proxyId ?? '')),
      };
    };
    for (const hours of ['24', '168'] as const) {
      const added = await countedBy(hours);
      await since("date_trunc('hour', now()) - interval '10 hours'");
      expect([hours, await countedBy(hours)]).toEqual([hours, added]);
      await since("'infinity'");
      expect([hours, await countedBy(hours)]).toEqual([hours, added]);
      await since("'-infinity'");
      expect(added.resources).toHaveLength(5);
    }
    const [{ calls = 0 } = {}] = await api.admin.query<{ calls: number }>(
      'SELECT sum(calls)::int AS calls FROM call_buckets WHERE minutes = 60',
    );
    expect(calls).toBe((50 * (200 * 201)) / 2);
  });

  it('of nobody are zeros without a duration', async () => {
    expect(await overviewOf(0)).toMatchObject({ totals: { calls: 0, failed: 0 }, resources: [] });
    expect((await overviewOf(0)).totals).not.toHaveProperty('p50_ms');
  });

  it('those who ask at once wait for one count', async () => {
    await data.count(tenantId, { calls: 3 });
    await overviewOf(3, '?hours=168');
    const counted = jest.spyOn(api.ctx.searches, 'search');
    try {
      const shown = await Promise.all(Array.from({ length: 10 }, () => overview('?hours=168')));
      expect(new Set(shown.map(({ totals }) => totals.calls))).toEqual(new Set([3]));
      expect(counted.mock.calls.length).toBeLessThan(10);
    } finally {
      counted.mockRestore();
    }
  });
});

describe('what waits', () => {
  it('is counted by its state, with the time since which the oldest is due', async () => {
    const run = { tenantId, reactorId: randomUUID(), actorId: randomUUID() };
    const ids = await Promise.all(Array.from({ length: 5 }, () => data.accept(run)));
    await data.accept({ ...run, tenantId: api.foreign.tenant_id });
    const change = (table: string, set: string, id: string | undefined) =>
      api.admin.query(`UPDATE ${table} SET ${set} WHERE id = $1`, [id]);
    await change('reactor_runs', `due_at = '2026-01-31T12:00:00Z'`, ids[0]);
    await change('reactor_runs', `due_at = now() + interval '1 hour'`, ids[1]);
    await change('reactor_runs', `status = 'running', due_at = '2026-01-01'`, ids[2]);
    await change('reactor_runs', `status = 'held', due_at = '2026-01-01'`, ids[3]);
    const webhooks = await Promise.all(Array.from({ length: 4 }, () => data.webhook(tenantId)));
    const failing = `attempts = 2, next_attempt_at = '2026-01-30T12:00:00Z'`;
    await change('webhook_deliveries', failing, webhooks[0]);
    const underWay = `attempts = 1, place = 1, next_attempt_at = '2026-01-01T12:00:00Z'`;
    await change('webhook_deliveries', underWay, webhooks[1]);
    await change('webhook_deliveries', `status = 'held'`, webhooks[2]);
    await data.webhook(tenantId, { ended: { status: 'failed' } });
    expect((await overview()).waiting).toEqual({
      counted_max: countedRowsMax,
      runs: { pending: 3, running: 1, held: 1, oldest_due_at: '2026-01-31T12:00:00.000Z' },
      deliveries: { pending: 3, failing: 2, held: 1, oldest_due_at: '2026-01-30T12:00:00.000Z' },
    });
    expect((await overview('', api.foreign.management_key)).waiting).toMatchObject({
      runs: { pending: 1, running: 0 },
      deliveries: { pending: 0 },
    });
  });

  it('is counted up to 10,000', async () => {
    await api.admin.query(
      `INSERT INTO reactor_runs (id, tenant_id, reactor_id, actor_id, status, arguments, callback_url,
         timeout_ms, trace_id, created_at, due_at)
       SELECT gen_random_uuid(), $1, $1, $1, CASE WHEN nth % 2 = 0 THEN 'pending' ELSE 'running' END,
         '', '', 1, 't', now(), now() + interval '1 hour' FROM generate_series(1, 20010) nth`,
      [tenantId],
    );
    expect((await overview()).waiting.runs).toEqual({
      ...{ pending: countedRowsMax, running: countedRowsMax, held: 0 },
    });
  });
});

it('the five newest failures are shown as the log of calls shows them', async () => {
  const ids: string[] = [];
  for (const nth of [1, 2, 3, 4, 5, 6, 7]) {
    const outcome = nth % 2 === 0 ? 'failed' : 'destination_error';
    const code = nth % 2 === 0 ? { code: 'destination_unreachable' } : {};
    ids.unshift(await data.call(tenantId, { outcome, ...code, status: 502 }, timeOrderedId(nth)));
    await data.call(tenantId, { outcome: 'left' });
    await data.call(api.foreign.tenant_id, { outcome: 'failed' });
  }
  const { failures } = await overview();
  expect(failures.map(({ id }) => id)).toEqual(ids.slice(0, 5));
  expect(failures[0]).toEqual((await api.get(`/calls/${ids[0]}`)).body);
});

it('the processes tell their release and how far behind they are, and not where they run', async () => {
  const shown = await waitFor(async () => {
    const { processes = [] } = await overview();
    return processes.length > 0 ? processes : undefined;
  });
  expect(shown).toEqual([
    {
      id: expect.any(String) as string,
      app: 'management-api',
      version: expect.any(String) as string,
      definition_lag: 0,
      seen_at: expect.stringMatching(/^20.*Z$/) as string,
    },
  ]);
});

it.each([
  ['hours=2', 'hours'],
  ['hours=one', 'hours'],
  ['hours=1&hours=24', 'hours'],
  ['from=2026-01-31T12:00:00Z', 'from'],
])('the overview is refused for ?%s', async (query, member) => {
  const answer = await api.get(`/overview?${query}`);
  expect([answer.status, answer.body]).toMatchObject([
    400,
    { errors: { [member]: [expect.any(String)] } },
  ]);
});

it('the overview needs a key with log:read', async () => {
  expect((await api.get('/overview', 'no key')).status).toBe(401);
  const other = await api.keyWith('management', ['tenant:read']);
  expect((await api.get('/overview', other)).status).toBe(403);
});
