import { randomUUID } from 'node:crypto';
import { connectDatabase, type Database } from '@glovebox/database';
import { every } from '@glovebox/service-host';
import { useTestApi } from '../spec-api';
import { fillLog, idOf, moments } from '../spec-filled-log';
import { DataPlane } from './spec-data-plane';

const rows = 1_000_000;
const days = 30;
const dayMs = 24 * 60 * 60 * 1_000;
/** The time that one call may take at most, on a busy machine. */
const callMaxMs = 2_000;

const api = useTestApi();
let data: DataPlane;
let owner: Database;
const figures: Record<string, number> = {};

beforeAll(() => {
  data = new DataPlane(api.ctx, api.database.dataUrl);
  owner = connectDatabase({ url: api.database.ownerUrl, app: 'spec', connectionsMax: 1 });
});
afterAll(async () => {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  await data.close();
  await owner.close();
});

async function timed<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const begun = performance.now();
  const result = await work();
  figures[name] = Math.round(performance.now() - begun);
  return result;
}

const fill = (log: string, insert: string, firstDaysAgo: number): Promise<void> =>
  fillLog({ owner, admin: api.admin }, log, insert, {
    ...{ tenantId: api.tenant.tenant_id, rows, days, firstDaysAgo },
  });

const resources = Array.from({ length: 10 }, () => randomUUID());
const runs = `
  INSERT INTO ended_runs (tenant_id, id, kind, resource_id, mode, status, outcome, http_status,
    argument_names, token_ids, trace_id, attempt, queued_ms, duration_ms, created_at, ended_at)
  SELECT $1, ${idOf}, 'reactor', (ARRAY['${resources.join(`','`)}'])[1 + nth % 10]::uuid, 'sync',
    CASE WHEN nth % 10000 = 0 THEN 'failed' ELSE 'completed' END, 'completed', 200,
    '{card.number}', '{token}', 'trace-' || nth, 1, 0, 5, moment, moment FROM ${moments}`;
const webhooks = `
  INSERT INTO ended_deliveries (tenant_id, id, run_id, reactor_id, webhook_id, status, callback_url,
    receiver, body, attempt_log, outcome, created_at, ended_at)
  SELECT $1, id, id, '${resources[0]}', 'msg', 'delivered', '', 'receiver',
    decode(repeat('ab', 200), 'hex'), '[]', 'delivered', moment, moment
  FROM ${moments}, LATERAL (SELECT ${idOf} AS id) i`;

it('a million runs of a tenant are listed by each filter within the time of a call', async () => {
  await timed('1,000,000 runs inserted', () => fill('ended_runs', runs, days - 1));
  const traced = `trace-${Math.ceil(rows / days) - 1}`;
  const day = new Date(Date.now() - 10 * dayMs).toISOString();
  const queries = [
    '',
    '?size=100',
    '?status=failed',
    '?status=running',
    '?kind=transform',
    '?kind=transform&status=failed',
    `?resource_id=${resources[3]}`,
    `?resource_id=${resources[3]}&status=failed`,
    `?resource_id=${randomUUID()}`,
    `?trace_id=${traced}`,
    '?trace_id=nothing',
    `?from=${day}&to=${day}`,
    `?to=${day}`,
  ];
  for (const query of queries) {
    const answer = await timed(`GET /runs${query}`, () => api.get(`/runs${query}`));
    expect([query, answer.status]).toEqual([query, 200]);
    expect(figures[`GET /runs${query}`]).toBeLessThan(callMaxMs);
  }
}, 900_000);

it('a million runs and a million webhooks are dropped in seconds while runs are logged', async () => {
  await timed('1,000,000 webhooks inserted', () => fill('ended_deliveries', webhooks, days + 1));
  let tries = 0;
  const dropOne = async (log: string): Promise<boolean> => {
    const [row] = await data.database.query<{ dropped: string }>(
      'SELECT drop_old_rows($1, 1, 1000) AS dropped',
      [log],
    );
    return row?.dropped !== '0';
  };
  /** Tries again where a lock did not come soon, as housekeeping does: VACUUM may hold it. */
  const drop = async (log: string): Promise<void> => {
    const isLocked = (error: unknown): boolean => {
      const isLate = error instanceof Error && 'code' in error && error.code === '55P03';
      if (!isLate) throw error instanceof Error ? error : new Error(String(error));
      tries += 1;
      return true;
    };
    while (await dropOne(log).catch(isLocked));
  };
  let slowest = 0;
  let inserted = 0;
  const insertOne = async (): Promise<void> => {
    const begun = performance.now();
    await data.run(api.tenant.tenant_id);
    slowest = Math.max(slowest, performance.now() - begun);
    inserted += 1;
  };
  const faults: unknown[] = [];
  const inserting = every(1, insertOne, { onFault: (error) => faults.push(error) });
  await timed('runs dropped', () => drop('ended_runs'));
  await timed('webhooks dropped', () => drop('ended_deliveries'));
  await inserting.stop();
  expect(faults).toEqual([]);
  figures['locks that did not come'] = tries;
  figures['inserted meanwhile'] = inserted;
  figures['slowest insert'] = Math.round(slowest);
  expect(figures['runs dropped']).toBeLessThan(10_000);
  expect(figures['webhooks dropped']).toBeLessThan(10_000);
  expect(inserted).toBeGreaterThan(0);
  expect(slowest).toBeLessThan(callMaxMs);
  // Two partitions are left: the day before, and today.
  const [left] = await api.admin.query<{ runs: number }>(
    'SELECT count(*)::int AS runs FROM ended_runs',
  );
  expect(left?.runs).toBeLessThan(3 * (rows / days) + inserted);
}, 900_000);

it('results of 100,000 webhooks are erased in seconds', async () => {
  const erase = async (): Promise<number> => {
    const [row] = await data.database.query<{ erased: string }>(
      'SELECT erase_ended_bodies(1000) AS erased',
    );
    return Number(row?.erased);
  };
  await api.admin.query(webhooks.replace('moment, moment', `moment, now() - interval '25 hours'`), [
    api.tenant.tenant_id,
    new Date(Math.floor(Date.now() / dayMs) * dayMs),
    100_000,
  ]);
  await timed('100,000 results erased', async () => {
    while ((await erase()) > 0);
  });
  expect(figures['100,000 results erased']).toBeLessThan(60_000);
  const [left] = await api.admin.query<{ bodies: number }>(
    `SELECT count(*)::int AS bodies FROM ended_deliveries
     WHERE body IS NOT NULL AND ended_at < now() - interval '24 hours'`,
  );
  expect(left?.bodies).toBe(0);
}, 900_000);
