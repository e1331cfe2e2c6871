import { randomUUID } from 'node:crypto';
import { connectDatabase, timeOfId } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import { createRegistry, type Registry } from '@glovebox/service-host';
import { waitFor } from '@glovebox/testing';
import { CallLog } from './call-log';
import { latencyBoundsMs } from './call-summary';
import { endedCall, startSpecCalls, type SpecCalls } from './spec-calls';

let store: SpecCalls;
let registry: Registry;
let statements: number;
/** What becomes of the next statements: refused, or carried out without an answer. */
let outage: 'none' | 'refused' | 'unanswered';
const logger = { warn: () => undefined };

beforeAll(async () => {
  store = await startSpecCalls();
});
afterAll(() => store.close());
beforeEach(async () => {
  registry = createRegistry('spec');
  statements = 0;
  outage = 'none';
  now = at;
  await store.empty();
});

function startLog(more: Partial<ConstructorParameters<typeof CallLog>[0]> = {}): CallLog {
  return new CallLog({
    registry,
    logger,
    sql: {
      async query<Found>(...statement: Parameters<typeof store.database.query>): Promise<Found[]> {
        statements += 1;
        if (outage === 'refused') throw new Problem('service_unavailable');
        const rows = await store.database.query<Found>(...statement);
        if (outage === 'unanswered') throw new Problem('service_unavailable');
        return rows;
      },
    },
    countedMs: 50,
    clock: () => now,
    ...more,
  });
}

let now: number;
const whole = { durationMs: 4, status: 200, left: false };
const at = Date.UTC(2026, 0, 31, 12);

const rowsOf = (tenantId: string): Promise<Record<string, unknown>[]> =>
  store.admin.query('SELECT * FROM calls WHERE tenant_id = $1 ORDER BY id', [tenantId]);

async function sumOf(tenantId: string): Promise<{ rows: number; calls: number }> {
  const [sum] = await store.admin.query<{ rows: number; calls: number }>(
    'SELECT count(*)::int AS rows, coalesce(sum(count), 0)::int AS calls FROM calls WHERE tenant_id = $1',
    [tenantId],
  );
  return sum ?? { rows: 0, calls: 0 };
}

async function countedOf(tenantId: string): Promise<number> {
  const [sum] = await store.admin.query<{ calls: number }>(
    'SELECT coalesce(sum(calls), 0)::int AS calls FROM call_summary WHERE tenant_id = $1',
    [tenantId],
  );
  return sum?.calls ?? 0;
}

async function metric(name: string): Promise<Record<string, number>> {
  const values = (await registry.getSingleMetric(name)?.get())?.values ?? [];
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels['reason']), value]));
}

it('a call is written a moment later, with its phases and all its ids', async () => {
  const log = startLog();
  const [tenantId, applicationId, proxyId, runId] = [1, 2, 3, 4].map(() => randomUUID());
  const failure = {
    phase: 'tls',
    reason: 'the certificate is self-signed',
    address: '192.0.2.1',
    port: 443,
  } as const;
  log.add(
    '/proxy',
    endedCall(tenantId, {
      method: 'POST',
      applicationId,
      proxyId,
      decidedAt: 1_000.25,
      askedAt: 1_001,
      requestBytes: 12,
      answerBytes: 5_000_000_000,
      tokenIds: ['a token', 'x'.repeat(400)],
      requestRunId: runId,
      problem: new Problem('destination_unreachable', { failure }),
    }),
    { durationMs: 30.123, status: 502, left: false },
  );
  expect(statements).toBe(0);
  const [row] = await waitFor(async () => {
    const rows = await rowsOf(tenantId ?? '');
    if (rows.length === 0) throw new Error('not written yet');
    return rows;
  });
  expect(row).toMatchObject({
    method: 'POST',
    path: '/proxy',
    outcome: 'failed',
    status: 502,
    destination_status: null,
    code: 'destination_unreachable',
    cause: failure,
    application_id: applicationId,
    proxy_id: proxyId,
    reactor_id: null,
    trace_id: 'trace',
    decided_ms: 0.25,
    asked_ms: 1,
    answered_ms: null,
    ended_ms: 30.12,
    request_bytes: '12',
    answer_bytes: '5000000000',
    token_ids: ['a token', 'x'.repeat(400)],
    request_run_id: runId,
    count: 1,
    created_at: new Date(at),
  });
  expect(timeOfId(String(row?.id))).toBe(at);
  await log.stop();
});

it.each([
  ['completed', { status: 200 }, {}],
  ['completed', { status: 302 }, { destinationStatus: 302 }],
  ['destination_error', { status: 503 }, { destinationStatus: 503 }],
  ['failed', { status: 402 }, {}],
  ['failed', { status: 502 }, { problem: new Problem('destination_timeout') }],
  ['failed', { status: 200, left: true }, { problem: new Problem('destination_unreachable') }],
  ['left', { status: 200, left: true }, { destinationStatus: 200 }],
  ['left', { status: undefined, left: true }, {}],
])('the outcome of a call is %s after %j and %j', async (outcome, end, more) => {
  const log = startLog();
  const tenantId = randomUUID();
  log.add('/proxy', endedCall(tenantId, more), { ...whole, ...end });
  await log.stop();
  expect(await rowsOf(tenantId)).toMatchObject([{ outcome }]);
});

it('a call without a tenant is in no log and is counted for the operator', async () => {
  const log = startLog();
  log.add('/proxy', endedCall(undefined), whole);
  await log.stop();
  expect(statements).toBe(0);
  expect(await metric('glovebox_call_log_strangers_total')).toEqual({ undefined: 1 });
});

it('50 completed and 200 failed calls of a second have rows, and further ones share a row each', async () => {
  const log = startLog();
  const [tenantId, proxyId] = [randomUUID(), randomUUID()];
  const problem = new Problem('destination_unreachable', {
    failure: { phase: 'connect', reason: 'refused' },
  });
  for (let nth = 0; nth < 1_000; nth += 1) {
    log.add('/proxy', endedCall(tenantId, { proxyId }), whole);
    log.add('/proxy', endedCall(tenantId, { proxyId, problem }), { ...whole, status: 502 });
  }
  await log.stop();
  const kept = await store.admin.query(
    `SELECT outcome, count(*)::int AS rows, sum(count)::int AS calls, max(count) AS most
     FROM calls WHERE tenant_id = $1 GROUP BY outcome ORDER BY outcome`,
    [tenantId],
  );
  expect(kept).toEqual([
    { outcome: 'completed', rows: 51, calls: 1_000, most: 950 },
    { outcome: 'failed', rows: 201, calls: 1_000, most: 800 },
  ]);
  expect(await countedOf(tenantId)).toBe(2_000);
});

it('the next second has rows of its own again, and no row that is written counts more calls', async () => {
  const log = startLog();
  const tenantId = randomUUID();
  for (let nth = 0; nth < 300; nth += 1) {
    now = at + Math.floor(nth / 150) * 1_000;
    log.add('/tokens', endedCall(tenantId), whole);
  }
  await waitFor(async () => (await sumOf(tenantId)).rows === 101);
  now = at;
  for (let nth = 0; nth < 100; nth += 1) log.add('/tokens', endedCall(tenantId), whole);
  await log.stop();
  expect(await sumOf(tenantId)).toEqual({ rows: 153, calls: 400 });
});

it('a shared row is of one resource, cause and status, and names nobody where its callers differ', async () => {
  const log = startLog();
  const tenantId = randomUUID();
  const proxies = [randomUUID(), randomUUID()];
  const applications = [randomUUID(), randomUUID()];
  const reasons = ['refused', 'reset'];
  for (let nth = 0; nth < 200; nth += 1) {
    log.add('/tokens', endedCall(tenantId), { ...whole, status: 404 });
  }
  for (let nth = 0; nth < 80; nth += 1) {
    const failure = { phase: 'connect', reason: reasons[nth % 2] ?? '' } as const;
    const call = endedCall(tenantId, {
      proxyId: proxies[(nth >> 1) % 2],
      applicationId: nth < 40 ? applications[0] : applications[1],
      problem: new Problem('destination_unreachable', { failure }),
    });
    log.add('/proxy', call, { ...whole, status: 502 });
  }
  await log.stop();
  const shared = await store.admin.query(
    `SELECT proxy_id, cause->>'reason' AS reason, count, application_id FROM calls
     WHERE tenant_id = $1 AND count > 1 ORDER BY 1, 2`,
    [tenantId],
  );
  expect(shared).toEqual(
    proxies
      .toSorted()
      .flatMap((proxy_id) =>
        reasons.map((reason) => ({ proxy_id, reason, count: 20, application_id: null })),
      ),
  );
});

it('a tenant with a thousand causes in a second gets a hundred rows for them, and one for the rest', async () => {
  const log = startLog();
  const tenantId = randomUUID();
  for (let nth = 0; nth < 1_300; nth += 1) {
    const failure = { phase: 'body', reason: `reset after ${nth} bytes` } as const;
    const problem = new Problem('destination_unreachable', { failure });
    log.add('/proxy', endedCall(tenantId, { problem }), { ...whole, status: 502 });
  }
  await log.stop();
  expect(await sumOf(tenantId)).toEqual({ rows: 301, calls: 1_300 });
  const [rest] = await store.admin.query('SELECT * FROM calls WHERE count > 1');
  expect(rest).toMatchObject({ method: '*', path: '*', outcome: 'failed', count: 1_000 });
  expect(rest).toMatchObject({ status: null, code: null, cause: null, trace_id: null });
});

it('calls are counted by minute, resource, outcome and class of duration', async () => {
  const log = startLog();
  const [tenantId, proxyId] = [randomUUID(), randomUUID()];
  for (const [durationMs, minute] of [
    [0.4, 0],
    [1, 0],
    [1.1, 0],
    [70_000, 0],
    [3, 1],
  ] as const) {
    const end = { ...whole, durationMs };
    now = at + minute * 60_000 + 59_999;
    log.add('/proxy', endedCall(tenantId, { proxyId }), end);
  }
  now = at;
  log.add('/proxy', endedCall(tenantId, { proxyId }), { ...whole, status: 500 });
  await log.stop();
  const counted = await store.admin.query(
    `SELECT minute, path, proxy_id, outcome, calls, duration_ms, latencies FROM call_summary
     WHERE tenant_id = $1 ORDER BY minute, outcome`,
    [tenantId],
  );
  const classes = (counts: Readonly<Record<number, number>>): number[] =>
    Array.from({ length: latencyBoundsMs.length + 1 }, (_, nth) => counts[nth] ?? 0);
  const cell = { path: '/proxy', proxy_id: proxyId };
  expect(counted).toEqual([
    {
      ...cell,
      ...{ minute: new Date(at), outcome: 'completed', calls: 4, duration_ms: 70_002.5 },
      latencies: classes({ 0: 2, 1: 1, [latencyBoundsMs.length]: 1 }),
    },
    {
      ...cell,
      ...{ minute: new Date(at), outcome: 'failed', calls: 1, duration_ms: 4 },
      latencies: classes({ 2: 1 }),
    },
    {
      ...cell,
      ...{ minute: new Date(at + 60_000), outcome: 'completed', calls: 1, duration_ms: 3 },
      latencies: classes({ 2: 1 }),
    },
  ]);
});

it('5,000 calls of two writers are counted exactly, in both apps and through every kind of outage', async () => {
  const management = connectDatabase({
    url: store.managementUrl,
    app: 'spec',
    connectionsMax: 1,
  });
  const [tenantId, proxyId] = [randomUUID(), randomUUID()];
  const gateway = startLog();
  const api = new CallLog({
    sql: management,
    registry: createRegistry('api'),
    logger,
    countedMs: 50,
  });
  const outages = ['none', 'unanswered', 'refused', 'unanswered', 'none'] as const;
  for (const next of outages) {
    outage = next;
    now += 1_000;
    const before = statements;
    for (let nth = 0; nth < 500; nth += 1) {
      gateway.add('/proxy', endedCall(tenantId, { proxyId }), whole);
      api.add('/tokens', endedCall(tenantId), whole);
    }
    await waitFor(() => statements >= before + 2);
  }
  await Promise.all([gateway.stop(), api.stop()]);
  await management.close();
  const counted = await store.admin.query(
    `SELECT path, sum(calls)::int AS calls FROM call_summary WHERE tenant_id = $1
     GROUP BY path ORDER BY path`,
    [tenantId],
  );
  expect(counted).toEqual([
    { path: '/proxy', calls: 2_500 },
    { path: '/tokens', calls: 2_500 },
  ]);
  expect(await metric('glovebox_call_log_uncounted_total')).toEqual({ share: 0, store: 0 });
});

it('rows are dropped and counted while the store is away, and written when it is back', async () => {
  const log = startLog();
  const tenantId = randomUUID();
  outage = 'refused';
  for (let nth = 0; nth < 5; nth += 1) log.add('/tokens', endedCall(tenantId), whole);
  await waitFor(async () => (await metric('glovebox_call_log_dropped_total'))['store'] === 5);
  outage = 'none';
  log.add('/tokens', endedCall(tenantId), whole);
  await log.stop();
  expect(await sumOf(tenantId)).toEqual({ rows: 1, calls: 1 });
  expect(await countedOf(tenantId)).toBe(6);
});

it('the end of the process does not wait long for a store that is away', async () => {
  const log = startLog();
  outage = 'refused';
  for (let nth = 0; nth < 1_000; nth += 1) {
    log.add(`/tokens`, endedCall(randomUUID()), whole);
  }
  await log.stop();
  expect(statements).toBeLessThanOrEqual(4);
  expect(await metric('glovebox_call_log_dropped_total')).toEqual({ share: 0, store: 1_000 });
  expect(await metric('glovebox_call_log_uncounted_total')).toEqual({ share: 0, store: 1_000 });
});

it('a tenant with too many calls loses its own, and its neighbours lose none', async () => {
  const log = startLog({ bytesMax: 10_000, cellsMax: 10 });
  const [loud, quiet] = [randomUUID(), randomUUID()];
  for (let nth = 0; nth < 100; nth += 1) log.add(`/${nth}`, endedCall(loud), whole);
  log.add('/tokens', endedCall(quiet), whole);
  await log.stop();
  expect(await sumOf(quiet)).toEqual({ rows: 1, calls: 1 });
  expect(await countedOf(quiet)).toBe(1);
  const { rows } = await sumOf(loud);
  expect((await metric('glovebox_call_log_dropped_total'))['share']).toBe(100 - rows);
  expect((await metric('glovebox_call_log_uncounted_total'))['share']).toBe(
    100 - (await countedOf(loud)),
  );
  expect(rows).toBeLessThan(20);
});

it('a call that cannot be stored costs no other call', async () => {
  const log = startLog();
  const tenantId = randomUUID();
  for (const applicationId of [undefined, 'no id', undefined]) {
    log.add('/tokens', endedCall(tenantId, { applicationId }), whole);
  }
  await log.stop();
  expect((await sumOf(tenantId)).rows).toBe(2);
  expect(await metric('glovebox_call_log_dropped_total')).toEqual({ share: 0, store: 1 });
});

it('a length that no integer holds is left out, and costs no other call a statement', async () => {
  const log = startLog();
  const tenantId = randomUUID();
  for (const requestBytes of [12, 2 ** 64 - 1, 2 ** 63, 13]) {
    log.add('/proxy', endedCall(tenantId, { requestBytes, answerBytes: requestBytes }), whole);
  }
  await log.stop();
  const kept = (await rowsOf(tenantId)).map((row) => [row.request_bytes, row.answer_bytes]);
  expect(kept.toSorted()).toEqual([
    [null, null],
    [null, null],
    ['12', '12'],
    ['13', '13'],
  ]);
  // One for the rows, and one for the counts.
  expect(statements).toBe(2);
});

it('counts are written while calls end faster than their rows are written', async () => {
  const tenantId = randomUUID();
  const written: string[] = [];
  const log: CallLog = startLog({
    sql: {
      async query<Found>(...[statement, values]: Parameters<typeof store.database.query>) {
        const { name } = statement as { name: string };
        written.push(name);
        await Promise.resolve();
        // As many calls end meanwhile as the statement has.
        for (let nth = 0; nth < 200 && written.length < 50; nth += 1) {
          log.add('/tokens', endedCall(randomUUID()), whole);
        }
        return store.database.query<Found>(statement, values);
      },
    },
  });
  for (let nth = 0; nth < 200; nth += 1) log.add('/tokens', endedCall(randomUUID()), whole);
  log.add('/tokens', endedCall(tenantId), whole);
  await waitFor(() => written.length >= 50);
  await log.stop();
  expect(written.indexOf('insert-call-summary')).toBeLessThan(5);
  expect(await countedOf(tenantId)).toBe(1);
});

it('a count that cannot be stored costs no other count', async () => {
  const log = startLog();
  const tenantId = randomUUID();
  for (const proxyId of [randomUUID(), 'no id', randomUUID()]) {
    log.add('/proxy', endedCall(tenantId, { proxyId }), whole);
  }
  await log.stop();
  expect(await countedOf(tenantId)).toBe(2);
  expect(await metric('glovebox_call_log_uncounted_total')).toEqual({ share: 0, store: 1 });
});

it('texts that Postgres refuses and more tokens than a row takes are stored all the same', async () => {
  const log = startLog();
  const tenantId = randomUUID();
  const tokenIds = ['a\0b', '\ud800', ...Array.from({ length: 200 }, (_, nth) => `t${nth}`)];
  const problem = new Problem('destination_unreachable', {
    failure: { phase: 'body', reason: 'a\0\ud800' },
  });
  log.add('/proxy', endedCall(tenantId, { tokenIds, problem }), whole);
  await log.stop();
  const [row] = await rowsOf(tenantId);
  expect(row?.token_ids).toHaveLength(100);
  expect(row).toMatchObject({ cause: { reason: 'a\ufffd\ufffd' } });
});
