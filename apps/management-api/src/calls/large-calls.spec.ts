import { randomUUID } from 'node:crypto';
import { countCalls, findCallIds, findSummary, type CallQuery } from '@glovebox/calls';
import { useTestApi } from '../spec-api';
import { countingSql, vacuum } from '../spec-plans';

const api = useTestApi();
const rows = 100_000;
const proxies = Array.from({ length: 10 }, () => randomUUID());
const [rareProxy, rareReactor, rareApplication] = [randomUUID(), randomUUID(), randomUUID()];
let tenantId: string;

const idOf = (moment: string): string =>
  `overlay(lowest_id_at(${moment})::text PLACING right(gen_random_uuid()::text, 21) FROM 16)::uuid`;

beforeAll(async () => {
  tenantId = api.tenant.tenant_id;
  // In parts, for their time limit. One call in 10,000 is rare in every way.
  for (let part = 0; part < 10; part += 1) {
    await api.admin.query(
      `INSERT INTO calls (tenant_id, id, method, path, outcome, status, application_id, proxy_id,
         reactor_id, trace_id, code, ended_ms, token_ids, count, created_at)
       SELECT $1, ${idOf('moment')}, 'GET', '/proxy', CASE WHEN rare THEN 'left' ELSE 'completed' END,
         CASE WHEN rare THEN 503 ELSE 200 END, CASE WHEN rare THEN $5 ELSE $1::uuid END,
         CASE WHEN rare THEN $3 ELSE ($2::uuid[])[1 + nth % 10] END, CASE WHEN rare THEN $4::uuid END,
         'trace-' || nth, CASE WHEN rare THEN 'no_capacity' END, 1, '{}', 1, moment
       FROM generate_series($6::int, $6 + ${rows / 10} - 1) nth, LATERAL (
         SELECT now() - nth * interval '0.2 seconds' AS moment, nth % 10000 = 0 AS rare) m`,
      [tenantId, proxies, rareProxy, rareReactor, rareApplication, (part * rows) / 10],
    );
  }
  await vacuum(api.admin, 'calls');
});

const all: CallQuery = {
  ...{ size: 20, after: undefined, from: undefined, to: undefined },
  ...{ proxyId: undefined, reactorId: undefined, applicationId: undefined },
  ...{ status: undefined, code: undefined, outcomes: [], traceId: undefined },
};
const hourAgo = () => new Date(Date.now() - 3_600_000);

it.each<[string, () => Partial<CallQuery>]>([
  ['without a filter', () => ({})],
  ['of an hour', () => ({ to: hourAgo() })],
  ['of a busy proxy', () => ({ proxyId: proxies[3] })],
  ['of a rare proxy', () => ({ proxyId: rareProxy })],
  ['of a reactor', () => ({ reactorId: rareReactor })],
  ['of a busy application', () => ({ applicationId: tenantId })],
  ['of a rare application', () => ({ applicationId: rareApplication })],
  ['of no application', () => ({ applicationId: randomUUID() })],
  ['with a common status', () => ({ status: 200 })],
  ['with a rare status', () => ({ status: 503 })],
  ['with a rare outcome', () => ({ outcomes: ['left'] })],
  ['with one of two outcomes', () => ({ outcomes: ['left', 'completed'] })],
  ['with one of two rare outcomes', () => ({ outcomes: ['left', 'failed'] })],
  ['with a rare code', () => ({ code: 'no_capacity' })],
  ['with an unknown code', () => ({ code: 'nothing' })],
  ['with a rare outcome of a proxy', () => ({ outcomes: ['left'], proxyId: rareProxy })],
  ['with a trace id', () => ({ traceId: 'trace-77777' })],
])('a page of 100,000 calls %s reads hardly more rows than it shows', async (_, query) => {
  const counting = countingSql(api.admin);
  const ids = await findCallIds(counting, tenantId, { ...all, ...query() });
  // Where most calls match, the newest ones are looked at in turn.
  expect(counting.rowsRead[0]).toBeLessThanOrEqual(ids.length + 10);
  expect(ids.length).toBeLessThanOrEqual(21);
});

it('a summary of a proxy reads the counts of that time alone', async () => {
  await api.admin.query(
    `INSERT INTO call_summary (tenant_id, id, minute, path, proxy_id, outcome, calls, duration_ms,
       latencies, created_at)
     SELECT $1, ${idOf('minute')}, minute, '/proxy', proxy, 'completed', 2, 1, array_fill(1, '{16}'), minute
     FROM generate_series(1, 5000) nth, unnest($2::uuid[]) proxy, LATERAL (
       SELECT date_trunc('minute', now()) - nth * interval '1 minute' AS minute) m`,
    [tenantId, proxies],
  );
  await vacuum(api.admin, 'call_summary');
  const counting = countingSql(api.admin);
  // Of the newest count: a minute may have ended since.
  const [newest] = await api.admin.query<{ minute: Date }>(
    'SELECT max(minute) AS minute FROM call_summary WHERE tenant_id = $1',
    [tenantId],
  );
  const to = newest?.minute ?? new Date(0);
  const from = new Date(to.getTime() - 59 * 60_000);
  const found = await findSummary(
    counting,
    tenantId,
    {
      ...{ from, to, proxyId: proxies[0] },
      ...{ resource: undefined, reactorId: undefined, outcome: undefined },
    },
    5_000,
  );
  expect(found).toHaveLength(60);
  // There are 5,000 of each proxy. In a short time, Postgres may read those of all.
  const read = counting.rowsRead.reduce((sum, rows) => sum + rows, 0);
  expect(read).toBeLessThanOrEqual(proxies.length * 61);
});

it('a summary of a day of many resources reads a part of the counts of that day', async () => {
  const counting = countingSql(api.admin);
  const found = await findSummary(
    counting,
    tenantId,
    {
      ...{ from: new Date(Date.now() - 24 * 3_600_000), to: new Date(), proxyId: undefined },
      ...{ resource: undefined, reactorId: undefined, outcome: undefined },
    },
    2_001,
  );
  expect(found).toHaveLength(2_001);
  const minutes = found.map(({ minute }) => minute.getTime());
  expect(minutes).toEqual(minutes.toSorted((one, other) => other - one));
  const read = counting.rowsRead.reduce((sum, rows) => sum + rows, 0);
  // Postgres may read the partition of today as a whole, which is short in the morning.
  expect(read).toBeLessThan((24 * 60 * proxies.length * 2) / 3);
});

it('the counts of a week are added up in one reading of them, a day at a time', async () => {
  const counting = countingSql(api.admin);
  const to = new Date();
  const from = new Date(Math.floor(to.getTime() / 3_600_000 - 167) * 3_600_000);
  const { resources, buckets } = await countCalls(counting, tenantId, {
    ...{ from, to, bucketMinutes: 60 },
  });
  expect(resources.map(({ calls }) => calls)).toEqual(proxies.map(() => 2 * 5_000));
  const calls = buckets.reduce((sum, bucket) => sum + bucket.calls, 0);
  expect(calls).toBe(proxies.length * 2 * 5_000);
  // The first says since when there are buckets.
  expect(counting.rowsRead).toHaveLength(1 + 7);
});
