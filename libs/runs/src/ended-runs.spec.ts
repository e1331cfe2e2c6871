import { randomUUID } from 'node:crypto';
import { timeOfId, timeOrderedId } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import { createRegistry, type Registry } from '@glovebox/service-host';
import { waitFor } from '@glovebox/testing';
import { RunLog, textPlace, type RunLogEntry, type RunRecord } from './ended-runs';
import { startSpecRows, type SpecRows } from './spec-rows';

let rows: SpecRows;
let registry: Registry;
let statements: number;
let outage: Error | undefined;
const logger = { warn: () => undefined };

beforeAll(async () => {
  rows = await startSpecRows();
});
afterAll(() => rows.close());
beforeEach(async () => {
  registry = createRegistry('spec');
  statements = 0;
  outage = undefined;
  await rows.empty();
});

function startLog(bytesMax?: number): RunLog {
  return new RunLog({
    sealer: rows.sealer,
    registry,
    logger,
    sql: {
      query(statement, values) {
        statements += 1;
        return outage ? Promise.reject(outage) : rows.database.query(statement, values);
      },
    },
    ...(bytesMax === undefined ? {} : { bytesMax }),
  });
}

const entry = (
  tenantId: string,
  record: Partial<RunRecord> = {},
  more: Partial<RunLogEntry> = {},
): RunLogEntry => ({
  runId: timeOrderedId(),
  tenantId,
  kind: 'reactor',
  resourceId: randomUUID(),
  traceId: 'trace',
  applicationId: null,
  mode: 'sync',
  attempt: 1,
  record: {
    outcome: 'completed',
    status: 200,
    startedAt: 1_769_000_000_000,
    durationMs: 12,
    queuedMs: 3,
    argumentNames: [],
    tokenIds: [],
    lines: [],
    ...record,
  },
  ...more,
});

const stored = async (): Promise<string[]> =>
  (await rows.admin.query<{ id: string }>('SELECT id FROM ended_runs ORDER BY id')).map(
    ({ id }) => id,
  );

async function dropped(): Promise<Record<string, number>> {
  const metric = await registry.getSingleMetric('glovebox_run_log_dropped_total')?.get();
  return Object.fromEntries(
    (metric?.values ?? []).map(({ labels, value }) => [String(labels['reason']), value]),
  );
}

const lineOf = (text: string) => [{ at: 1, level: 'info', text } as const];

it('a run is written a moment later, its texts sealed in their own places', async () => {
  const log = startLog();
  const tenantId = randomUUID();
  const failed = entry(tenantId, {
    outcome: 'reactor_timeout',
    status: 504,
    lines: lineOf('sesame'),
    message: 'open sesame',
    stack: [{ function: 'sesame', line: 1, column: 2 }],
    tokenIds: ['t'],
  });
  log.add(failed);
  expect(statements).toBe(0);
  await waitFor(async () => (await stored()).length === 1);
  const [row] = await rows.admin.query<{ lines: Buffer; reason: Buffer }>(
    'SELECT * FROM ended_runs',
  );
  expect(row).toMatchObject({
    id: failed.runId,
    mode: 'sync',
    status: 'failed',
    outcome: 'reactor_timeout',
    http_status: 504,
    application_id: null,
    token_ids: ['t'],
    position: null,
    created_at: new Date(failed.record.startedAt),
    ended_at: new Date(failed.record.startedAt + 12),
  });
  const opened = async (column: 'lines' | 'reason'): Promise<unknown> => {
    const sealed = row?.[column] ?? Buffer.of();
    expect(sealed.includes('sesame')).toBe(false);
    const place = textPlace(tenantId, failed.runId, column);
    return JSON.parse((await rows.sealer.open(place, sealed)).toString());
  };
  expect(await opened('lines')).toEqual(lineOf('sesame'));
  const { message, stack } = failed.record;
  expect(await opened('reason')).toEqual({ message, stack });
  await log.stop();
});

it('a run that a caller waited for is as old as its id, and keeps its own duration', async () => {
  const log = startLog();
  const runId = timeOrderedId(Date.now() - 60_000);
  const { record, runId: _id, attempt: _attempt, ...run } = entry(randomUUID());
  log.recorder(run, runId)(record);
  await log.stop();
  const [row] = await rows.admin.query('SELECT * FROM ended_runs');
  const startedAt = new Date(timeOfId(runId) ?? 0);
  expect(row).toMatchObject({ id: runId, attempt: 1, created_at: startedAt, duration_ms: 12 });
});

it('a thousand runs at once take about ten statements, and stop waits for them', async () => {
  const log = startLog();
  const entries = Array.from({ length: 1_000 }, () => entry(randomUUID()));
  for (const one of entries) log.add(one);
  await log.stop();
  expect(await stored()).toEqual(entries.map(({ runId }) => runId).sort());
  expect(statements).toBe(10);
  expect(await dropped()).toEqual({ share: 0, store: 0 });
});

it('runs with and without texts are stored by one statement, each with its own', async () => {
  const log = startLog();
  const [plain, telling] = [entry(randomUUID()), entry(randomUUID(), { lines: lineOf('sesame') })];
  for (const one of [plain, telling]) log.add(one);
  await log.stop();
  expect(statements).toBe(1);
  const found = await rows.admin.query<{ id: string; lines: Buffer | null; reason: Buffer | null }>(
    'SELECT id, lines, reason FROM ended_runs',
  );
  const byId = new Map(found.map((row) => [row.id, row]));
  expect(byId.get(plain.runId)).toMatchObject({ lines: null, reason: null });
  const sealed = byId.get(telling.runId)?.lines ?? Buffer.of();
  const place = textPlace(telling.tenantId, telling.runId, 'lines');
  expect(JSON.parse((await rows.sealer.open(place, sealed)).toString())).toEqual(lineOf('sesame'));
});

it('a tenant with too many runs loses its own, and its neighbours lose none', async () => {
  const log = startLog(100_000);
  const [loud, quiet] = [randomUUID(), randomUUID()];
  for (let nth = 0; nth < 1_000; nth += 1)
    log.add(entry(loud, { lines: lineOf('x'.repeat(1_000)) }));
  const heard = entry(quiet, { lines: lineOf('y') });
  log.add(heard);
  expect((await dropped())['share']).toBeGreaterThan(900);
  await log.stop();
  expect(await stored()).toContain(heard.runId);
  // What was written makes room.
  const later = entry(loud);
  const again = startLogAnew();
  again.add(later);
  await again.stop();
  expect(await stored()).toContain(later.runId);
});

function startLogAnew(): RunLog {
  registry = createRegistry('spec');
  return startLog();
}

it('runs are dropped and counted while the store is away, and written when it is back', async () => {
  const log = startLog();
  outage = new Problem('service_unavailable');
  for (let nth = 0; nth < 5; nth += 1) log.add(entry(randomUUID()));
  await waitFor(async () => (await dropped())['store'] === 5);
  outage = undefined;
  const after = entry(randomUUID());
  log.add(after);
  await log.stop();
  expect(await stored()).toEqual([after.runId]);
});

it('the end of the process does not wait long for a store that is away', async () => {
  const log = startLog();
  outage = new Problem('service_unavailable');
  for (let nth = 0; nth < 1_000; nth += 1) log.add(entry(randomUUID()));
  await log.stop();
  expect(statements).toBeLessThanOrEqual(2);
  expect(await dropped()).toEqual({ share: 0, store: 1_000 });
});

it('a run that cannot be stored costs no other run', async () => {
  const log = startLog();
  const good = [entry(randomUUID()), entry(randomUUID())];
  const [first, last] = good as [RunLogEntry, RunLogEntry];
  const bad = entry(randomUUID(), {}, { resourceId: 'no id' });
  for (const one of [first, bad, last]) log.add(one);
  await log.stop();
  expect(await stored()).toEqual(good.map(({ runId }) => runId).sort());
  expect(await dropped()).toEqual({ share: 0, store: 1 });
});

it('a run that is added twice is stored once', async () => {
  const log = startLog();
  const twice = entry(randomUUID());
  log.add(twice);
  log.add(twice);
  await log.stop();
  expect(await stored()).toEqual([twice.runId]);
});

it('texts that Postgres refuses and numbers that no column takes are stored all the same', async () => {
  const log = startLog();
  log.add(
    entry(randomUUID(), {
      argumentNames: ['a\0b', '\ud800', 'n'.repeat(5_000)],
      durationMs: 1e15,
      queuedMs: -1,
    }),
  );
  await log.stop();
  expect(
    await rows.admin.query('SELECT argument_names, duration_ms, queued_ms FROM ended_runs'),
  ).toEqual([
    {
      argument_names: ['a\ufffdb', '\ufffd', 'n'.repeat(200)],
      duration_ms: 2_147_483_647,
      queued_ms: 0,
    },
  ]);
});
