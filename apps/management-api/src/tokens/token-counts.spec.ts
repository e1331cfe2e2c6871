import { randomInt, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { useTestDatabase } from '@glovebox/testing';

const writers = 6;
const tenantId = randomUUID();
const database = useTestDatabase();
let clients: Client[];

beforeAll(async () => {
  clients = Array.from(
    { length: writers },
    () => new Client({ connectionString: database.dataUrl, lock_timeout: 1_000 }),
  );
  for (const client of clients) database.closing({ close: () => client.end() });
  await Promise.all(clients.map((client) => client.connect()));
});

const insert = `INSERT INTO tokens (tenant_id, id, type, container, data, created_at)
  SELECT $1, gen_random_uuid(), 'token', $2, '', now() FROM generate_series(1, $3)`;

async function countsOf(table: 'tokens' | 'token_counts'): Promise<unknown[]> {
  const count = table === 'tokens' ? 'count(*)' : 'sum(count)';
  const [client] = clients as [Client];
  const { rows } = await client.query(
    `SELECT container, type, ${count}::int AS count FROM ${table} WHERE tenant_id = $1
     GROUP BY 1, 2 HAVING ${count} <> 0 ORDER BY 1, 2`,
    [tenantId],
  );
  return rows;
}

it('transactions that count the same containers in opposite order do not wait for each other', async () => {
  const [one, other] = clients as [Client, Client];
  await one.query(insert, [tenantId, '/a/', 3]);
  for (const client of [one, other]) await client.query('BEGIN');
  await one.query(insert, [tenantId, '/a/', 1]);
  await other.query(insert, [tenantId, '/b/', 1]);
  await other.query(insert, [tenantId, '/a/', 1]);
  await one.query(insert, [tenantId, '/b/', 1]);
  await other.query('COMMIT');
  await one.query('ROLLBACK');
  expect(await countsOf('token_counts')).toEqual([
    { container: '/a/', type: 'token', count: 4 },
    { container: '/b/', type: 'token', count: 1 },
  ]);
});

it('counts are exact after writers at once, in no more slots than there were writers', async () => {
  const containers = ['/a/', '/b/', '/c/'];
  const some = (): string => containers[randomInt(containers.length)] ?? '';
  // A row that another one changes is left to it.
  const few = `id IN (SELECT id FROM tokens WHERE tenant_id = $1 AND container = $2
    LIMIT 3 FOR UPDATE SKIP LOCKED) AND tenant_id = $1`;
  const write = async (client: Client): Promise<void> => {
    for (let round = 0; round < 40; round += 1) {
      await client.query('BEGIN');
      await client.query(insert, [tenantId, some(), randomInt(5)]);
      await client.query(`UPDATE tokens SET container = $3 WHERE ${few}`, [
        tenantId,
        some(),
        some(),
      ]);
      await client.query(`DELETE FROM tokens WHERE ${few}`, [tenantId, some()]);
      await client.query(randomInt(4) === 0 ? 'ROLLBACK' : 'COMMIT');
    }
  };
  await Promise.all(clients.map(write));
  expect(await countsOf('token_counts')).toEqual(await countsOf('tokens'));
  const [client] = clients as [Client];
  const { rows } = await client.query<{ slots: number }>(
    `SELECT max(slots)::int AS slots FROM (
       SELECT count(*) AS slots FROM token_counts GROUP BY tenant_id, container, type) counted`,
  );
  expect(rows[0]?.slots).toBeLessThanOrEqual(writers);
  await client.query('DELETE FROM tokens WHERE tenant_id = $1', [tenantId]);
  expect(await countsOf('token_counts')).toEqual([]);
});
