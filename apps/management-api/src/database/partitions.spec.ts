import { randomUUID } from 'node:crypto';
import { connectDatabase, lowestIdAt, timeOrderedId, type Database } from '@glovebox/database';
import { useTestDatabase } from '@glovebox/testing';

const dayMs = 24 * 60 * 60 * 1_000;

const database = useTestDatabase();
let [admin, data, management]: Database[] = [];
const as = () => {
  if (!admin || !data || !management) throw new Error('not connected');
  return { admin, data, management };
};

beforeAll(() => {
  const urls = [database.adminUrl, database.dataUrl, database.managementUrl];
  [admin, data, management] = urls.map((url) =>
    database.closing(connectDatabase({ url, app: 'spec', connectionsMax: 2 })),
  );
});

const insertRun = async (id: string, tenantId: string = randomUUID()): Promise<void> => {
  await as().data.query(
    `INSERT INTO ended_runs (tenant_id, id, kind, resource_id, mode, status, outcome, http_status,
       argument_names, token_ids, trace_id, attempt, queued_ms, duration_ms, created_at, ended_at)
     VALUES ($1, $2, 'reactor', $2, 'sync', 'completed', 'returned', 200, '{}', '{}', 't', 1, 0, 1,
       now(), now())`,
    [tenantId, id],
  );
};

async function partitionOf(id: string): Promise<string | undefined> {
  const [row] = await as().admin.query<{ name: string }>(
    'SELECT tableoid::regclass::text AS name FROM ended_runs WHERE id = $1',
    [id],
  );
  return row?.name;
}

const dayAfter = (ms: number): string =>
  new Date(ms + dayMs).toISOString().slice(0, 10).replaceAll('-', '');

const partitions = async (log: string): Promise<string[]> =>
  (
    await as().admin.query<{ name: string }>(
      'SELECT name FROM log_partitions WHERE log = $1 ORDER BY name',
      [log],
    )
  ).map(({ name }) => name);

/** Makes one as its owner would, wherever the spec needs one. */
const makePartition = (log: string, starts: Date, ends: Date): Promise<unknown> =>
  as().admin.transaction(async (sql) => {
    await sql.query('SET LOCAL ROLE glovebox_owner');
    await sql.query('SELECT make_partition($1, $2, $3)', [log, starts, ends]);
  });

const makePartitions = async (): Promise<number> => {
  const [row] = await as().data.query<{ made: number }>('SELECT make_partitions() AS made');
  return row?.made ?? 0;
};

const dropOldRows = async (log: string, keptDays: number | null): Promise<number> => {
  const [row] = await as().data.query<{ dropped: string }>(
    'SELECT drop_old_rows($1, $2, 1000) AS dropped',
    [log, keptDays],
  );
  return Number(row?.dropped);
};

describe('a row of a log', () => {
  it('is in the partition of the day that its id names', async () => {
    for (const ahead of [0, 1, 6]) {
      const time = Date.now() + ahead * dayMs;
      const id = timeOrderedId(time);
      await insertRun(id);
      expect(await partitionOf(id)).toBe(`ended_runs_until_${dayAfter(time)}`);
    }
  });

  it.each([
    ['of a clock that is a year ahead', () => timeOrderedId(Date.now() + 365 * dayMs)],
    ['of a clock that is a year behind', () => timeOrderedId(Date.now() - 365 * dayMs)],
    ['with a random id', () => randomUUID()],
  ])('is stored without a partition for it: %s', async (_, make) => {
    const id = make();
    await insertRun(id);
    expect(await partitionOf(id)).toBe('ended_runs_default');
  });

  it('that came ahead of its partition moves to the partition once there is one', async () => {
    const time = Date.now() + 8 * dayMs;
    const id = timeOrderedId(time);
    await insertRun(id);
    expect(await partitionOf(id)).toBe('ended_runs_default');
    await makePartition(
      'ended_runs',
      new Date(Math.floor(time / dayMs) * dayMs),
      new Date((Math.floor(time / dayMs) + 1) * dayMs),
    );
    expect(await partitionOf(id)).toBe(`ended_runs_until_${dayAfter(time)}`);
  });

  it('of another tenant is not seen, in the log or in its partition', async () => {
    const [tenantId, other] = [randomUUID(), randomUUID()];
    const [mine, foreign] = [timeOrderedId(), timeOrderedId()];
    await insertRun(mine, tenantId);
    await insertRun(foreign, other);
    const tenant = as().management.viewOf(tenantId);
    expect(await tenant.query('SELECT id FROM ended_runs')).toEqual([{ id: mine }]);
    expect(await as().management.query('SELECT id FROM ended_runs')).toEqual([]);
    for (const log of ['ended_runs', 'ended_deliveries', 'audit_log']) {
      for (const name of [...(await partitions(log)), `${log}_default`]) {
        await expect(tenant.query(`SELECT 1 FROM ${name}`)).rejects.toMatchObject({
          code: '42501',
        });
      }
    }
    // Even with the right to read a partition itself, there is nothing to see.
    const partition = await partitionOf(foreign);
    await as().admin.query(`GRANT SELECT ON ${partition} TO glovebox_management`);
    expect(await tenant.query(`SELECT 1 FROM ${partition}`)).toEqual([]);
  });
});

describe('the partitions of a log', () => {
  it('are made a week ahead, and two months for the audit log, and only once', async () => {
    await makePartitions();
    expect(await makePartitions()).toBe(0);
    const ahead = Date.now() + 6 * dayMs;
    expect(await partitions('ended_runs')).toContain(`ended_runs_until_${dayAfter(ahead)}`);
    expect(await partitions('ended_deliveries')).toContain(
      `ended_deliveries_until_${dayAfter(ahead)}`,
    );
    expect((await partitions('audit_log')).length).toBeGreaterThanOrEqual(2);
  });

  it('go on after a gap without moving what came meanwhile', async () => {
    const { admin } = as();
    for (const name of await partitions('ended_runs')) await admin.query(`DROP TABLE ${name}`);
    await makePartition(
      'ended_runs',
      new Date(Math.floor(Date.now() / dayMs - 9) * dayMs),
      new Date(Math.floor(Date.now() / dayMs - 8) * dayMs),
    );
    const id = timeOrderedId();
    await insertRun(id);
    expect(await makePartitions()).toBeGreaterThan(6);
    expect(await partitionOf(id)).toBe('ended_runs_default');
    const later = timeOrderedId(Date.now() + dayMs);
    await insertRun(later);
    expect(await partitionOf(later)).toBe(`ended_runs_until_${dayAfter(Date.now() + dayMs)}`);
  });

  it('are dropped once all their rows are old, one at a time, and rows without one are deleted', async () => {
    const { admin } = as();
    const today = Math.floor(Date.now() / dayMs);
    for (const ago of [33, 32]) {
      await makePartition(
        'ended_deliveries',
        new Date((today - ago) * dayMs),
        new Date((today - ago + 1) * dayMs),
      );
    }
    const before = await partitions('ended_deliveries');
    const insert = (id: string, created: string) =>
      as().data.query(
        `INSERT INTO ended_deliveries (tenant_id, id, run_id, webhook_id, status, callback_url,
           attempt_log, created_at, ended_at)
         VALUES ($1, $1, $1, '', 'failed', '', '[]', now() - $2::interval, now())`,
        [id, created],
      );
    await insert(timeOrderedId((today - 32) * dayMs + 1), '32 days');
    await insert(randomUUID(), '32 days');
    await insert(randomUUID(), '29 days');
    await insert(lowestIdAt(Date.now()), '0');
    expect(await dropOldRows('ended_deliveries', 30)).toBe(1000);
    expect(await partitions('ended_deliveries')).toEqual(before.slice(1));
    expect(await dropOldRows('ended_deliveries', 30)).toBe(1000);
    expect(await partitions('ended_deliveries')).toEqual(before.slice(2));
    expect(await dropOldRows('ended_deliveries', 30)).toBe(1);
    expect(await dropOldRows('ended_deliveries', 30)).toBe(0);
    const left = await admin.query('SELECT 1 FROM ended_deliveries');
    expect(left).toHaveLength(2);
  });

  it('are left for the next time while somebody reads the log for long, and nobody waits', async () => {
    const { admin, data } = as();
    await makePartition(
      'ended_runs',
      new Date('2020-01-01T00:00:00Z'),
      new Date('2020-01-02T00:00:00Z'),
    );
    await admin.transaction(async (reader) => {
      await reader.query('SELECT 1 FROM ended_runs');
      await expect(dropOldRows('ended_runs', 30)).rejects.toMatchObject({ code: '55P03' });
      await insertRun(timeOrderedId());
    });
    expect(await dropOldRows('ended_runs', 30)).toBe(1000);
    expect(await partitions('ended_runs')).not.toContain('ended_runs_until_20200102');
    expect(await data.query('SELECT 1')).toHaveLength(1);
  });

  it('are not dropped while results and the logs of deleted tenants are cleared', async () => {
    const { data } = as();
    for (const log of ['ended_runs', 'ended_deliveries']) {
      await makePartition(log, new Date('2020-01-01T00:00:00Z'), new Date('2020-01-02T00:00:00Z'));
    }
    await data.transaction(async (sql) => {
      await sql.query('SELECT erase_ended_bodies(10)');
      await expect(dropOldRows('ended_deliveries', 30)).rejects.toMatchObject({ code: '55P03' });
    });
    await data.transaction(async (sql) => {
      await sql.query('SELECT delete_logs_of_tenants(10)');
      await expect(dropOldRows('ended_runs', 30)).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await dropOldRows('ended_deliveries', 30)).toBe(1000);
    expect(await dropOldRows('ended_runs', 30)).toBe(1000);
  });

  it.each([
    ['another table', 'tokens', 400],
    ['a partition', 'audit_log_default', 400],
    ['SQL', 'ended_runs; DROP TABLE tokens', 400],
    ['the audit log of the last 90 days', 'audit_log', 89],
    ['the runs of today', 'ended_runs', 0],
    ['everything', 'ended_runs', -1],
    ['an unknown number of days', 'ended_runs', null],
  ])('are all that a worker may drop: not %s', async (_, log, keptDays) => {
    await expect(dropOldRows(log, keptDays)).rejects.toMatchObject({ code: 'P0001' });
  });

  it.each([
    'CREATE TABLE ended_runs_mine PARTITION OF ended_runs DEFAULT',
    'DROP TABLE ended_runs_default',
    `SELECT make_partition('ended_runs', now(), now())`,
    'DELETE FROM ended_runs',
    'UPDATE ended_runs SET status = status',
    'DELETE FROM ended_deliveries',
    'SELECT 1 FROM ended_deliveries',
    'SELECT 1 FROM log_partitions',
  ])('and their rows are out of reach of a worker: %s', async (statement) => {
    await expect(as().data.query(statement)).rejects.toMatchObject({ code: '42501' });
  });

  it('may not be made or dropped by the management API', async () => {
    for (const call of ['make_partitions()', `drop_old_rows('audit_log', 400, 1)`]) {
      await expect(as().management.query(`SELECT ${call}`)).rejects.toMatchObject({
        code: '42501',
      });
    }
  });
});
