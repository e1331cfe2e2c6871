import { randomUUID } from 'node:crypto';
import { useTestDatabase, waitFor } from '@glovebox/testing';
import { connectDatabase, KeyUses, type Database, type Sql } from './index';

const database = useTestDatabase();
let admin: Database;
let data: Database;
beforeAll(() => {
  const connect = (url: string): Database =>
    database.closing(connectDatabase({ url, app: 'spec', connectionsMax: 2 }));
  admin = connect(database.adminUrl);
  data = connect(database.dataUrl);
});

const silent = (): void => undefined;

/** Three keys, of three tenants. */
async function keys(): Promise<string[]> {
  const hashes = Array.from({ length: 3 }, () => `hash-${randomUUID()}`);
  for (const hash of hashes) {
    const [id, key] = [randomUUID(), randomUUID()];
    await admin.query(
      `WITH t AS (INSERT INTO tenants VALUES ($1, 't', '{}', '', now())),
         a AS (INSERT INTO applications (id, tenant_id, name, type, permissions, rules, created_at)
               VALUES ($1, $1, 'a', 'private', '{}', '[]', now()))
       INSERT INTO application_keys (id, tenant_id, application_id, key_hash, created_at)
       VALUES ($2, $1, $1, $3, now())`,
      [id, key, hash],
    );
  }
  return hashes;
}

async function lastUses(hashes: readonly string[]): Promise<(number | undefined)[]> {
  const rows = await admin.query<{ hash: string; at: Date | null }>(
    `SELECT key_hash AS hash, last_used_at AS at FROM application_keys
     WHERE key_hash = ANY ($1)`,
    [hashes],
  );
  return hashes.map((hash) => rows.find((row) => row.hash === hash)?.at?.getTime());
}

/** The same database, with what is asked of it. */
function counting(sql: Sql): { sql: Sql; asked: unknown[] } {
  const asked: unknown[] = [];
  return {
    asked,
    sql: {
      query<Row>(statement: string, values?: readonly unknown[]) {
        asked.push(values);
        return sql.query<Row>(statement, values);
      },
    },
  };
}

it('a thousand uses of several keys take one statement, with one write per key', async () => {
  const [first = '', second = '', unused = ''] = await keys();
  const { sql, asked } = counting(data);
  const uses = new KeyUses(sql, silent, 10);
  for (let use = 0; use < 1_000; use += 1) uses.note(use % 2 ? first : second);
  await waitFor(async () => (await lastUses([first]))[0] !== undefined);
  expect(await lastUses([first, second, unused])).toEqual([
    expect.any(Number),
    expect.any(Number),
    undefined,
  ]);
  for (let use = 0; use < 1_000; use += 1) uses.note(first);
  await uses.stop();
  expect(asked).toEqual([[[second, first]]]);
});

it('the use of a key is written once in a minute, however many processes see it', async () => {
  const hashes = await keys();
  const writeAll = async (): Promise<void> => {
    const processes = Array.from({ length: 4 }, () => new KeyUses(data, silent, 1));
    for (const uses of processes) for (const hash of hashes) uses.note(hash);
    await Promise.all(processes.map((uses) => uses.stop()));
  };
  await writeAll();
  const before = await lastUses(hashes);
  expect(before).toEqual(hashes.map(() => expect.any(Number) as number));
  await writeAll();
  expect(await lastUses(hashes)).toEqual(before);
  await admin.query(
    `UPDATE application_keys SET last_used_at = last_used_at - interval '61 seconds'
     WHERE key_hash = $1`,
    [hashes[0]],
  );
  await writeAll();
  const [first = 0, ...others] = await lastUses(hashes);
  expect(first).toBeGreaterThan(before[0] ?? 0);
  expect(others).toEqual(before.slice(1));
});

it('a locked row or a deleted key makes no call wait', async () => {
  const [held = '', free = ''] = await keys();
  await admin.transaction(async (sql) => {
    await sql.query('SELECT 1 FROM application_keys WHERE key_hash = $1 FOR UPDATE', [held]);
    const uses = new KeyUses(data, silent);
    for (const hash of [held, free, 'unknown']) uses.note(hash);
    await uses.stop();
  });
  expect(await lastUses([held, free])).toEqual([undefined, expect.any(Number)]);
});

it('while the database is away a use is lost and nothing else; the next use is noted', async () => {
  const [hash = ''] = await keys();
  const faults: unknown[] = [];
  let isAway = true;
  const sql: Sql = {
    query: (statement, values) =>
      isAway ? Promise.reject(new Error('away')) : data.query(statement, values),
  };
  const uses = new KeyUses(sql, (fault) => faults.push(fault), 1);
  uses.note(hash);
  await waitFor(() => faults.length === 1);
  isAway = false;
  uses.note(hash);
  await uses.stop();
  expect(await lastUses([hash])).toEqual([expect.any(Number)]);
});

it('the data plane can write nothing else of a key', async () => {
  const [hash = ''] = await keys();
  const write = data.query('UPDATE application_keys SET last_used_at = now() WHERE key_hash = $1', [
    hash,
  ]);
  await expect(write).rejects.toMatchObject({ code: '42501' });
});
