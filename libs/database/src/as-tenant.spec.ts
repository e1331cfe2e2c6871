import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { useTestDatabase } from '@glovebox/testing';
import { asUnavailable, queryAsTenant } from './index';

const database = useTestDatabase();
let client: Client;
const [one, other] = [randomUUID(), randomUUID()];

async function connected(options: { query_timeout?: number } = {}): Promise<Client> {
  const made = new Client({ connectionString: database.managementUrl, ...options });
  // Said to whoever waits for an answer, too.
  made.on('error', () => undefined);
  await made.connect();
  return made;
}

beforeAll(async () => {
  client = await connected();
  database.closing({ close: () => client.end() });
  for (const tenant of [one, other]) {
    await queryAsTenant(client, tenant, insert, [tenant]);
  }
});

const insert = `INSERT INTO tenants (id, name, settings, webhook_secrets, created_at)
  VALUES ($1, 'before', '{}', '', now())`;
const seenBy = async (tenant: string): Promise<unknown[]> =>
  (await queryAsTenant(client, tenant, 'SELECT id FROM tenants')).rows;
const seenByNobody = async (): Promise<unknown[]> =>
  (await client.query('SELECT id FROM tenants')).rows as unknown[];

it('two tenants in turn on one connection see their own rows alone, and without a tenant none are seen', async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    expect(await seenBy(one)).toEqual([{ id: one }]);
    expect(await seenByNobody()).toEqual([]);
    expect(await seenBy(other)).toEqual([{ id: other }]);
  }
});

it('a statement that fails leaves neither its writes nor its tenant on the connection', async () => {
  const failing = `WITH renamed AS (UPDATE tenants SET name = 'after' RETURNING id)
    SELECT 1 / (count(*) - $1) FROM renamed`;
  for (const values of [[1], ['no number']]) {
    await expect(queryAsTenant(client, one, failing, values)).rejects.toThrow();
    expect(await seenByNobody()).toEqual([]);
    expect(await seenBy(other)).toEqual([{ id: other }]);
  }
  const { rows } = await queryAsTenant(client, one, 'SELECT name FROM tenants');
  expect(rows).toEqual([{ name: 'before' }]);
});

it('a statement of a tenant that could not be entered is not executed', async () => {
  const mark = `SELECT set_config('glovebox.mark', 'set', false)`;
  await expect(queryAsTenant(client, 'a\0', mark)).rejects.toMatchObject({ code: '22021' });
  const { rows } = await client.query(`SELECT current_setting('glovebox.mark', true) AS mark`);
  expect(rows).toEqual([{ mark: null }]);
  expect(await seenBy(one)).toEqual([{ id: one }]);
});

it.each([
  ['COMMIT', 'within'],
  ['ROLLBACK', 'before'],
])(
  "a transaction begun as a tenant stays the tenant's until %s, and no longer",
  async (end, name) => {
    await queryAsTenant(client, one, `UPDATE tenants SET name = 'before'`);
    await queryAsTenant(client, one, 'BEGIN');
    expect(await seenByNobody()).toEqual([{ id: one }]);
    await client.query(`UPDATE tenants SET name = 'within'`);
    await client.query(end);
    expect(await seenByNobody()).toEqual([]);
    const { rows } = await queryAsTenant(client, one, 'SELECT name FROM tenants');
    expect(rows).toEqual([{ name }]);
  },
);

it('the rows of a statement are committed when they are handed over', async () => {
  const beside = await connected();
  try {
    const update = `UPDATE tenants SET name = 'new' RETURNING name`;
    expect((await queryAsTenant(client, one, update)).rows).toEqual([{ name: 'new' }]);
    const { rows } = await queryAsTenant(beside, one, 'SELECT name FROM tenants');
    expect(rows).toEqual([{ name: 'new' }]);
  } finally {
    await beside.end();
  }
});

it('a connection that breaks during a statement is a 503', async () => {
  const broken = await connected();
  const ending = queryAsTenant(broken, one, 'SELECT pg_terminate_backend(pg_backend_pid())');
  await expect(ending.catch(asUnavailable)).resolves.toMatchObject({ code: 'service_unavailable' });
  await expect(queryAsTenant(broken, one, 'SELECT 1')).rejects.toThrow();
});

it('a connection that does not answer in time is a 503, and is not used again', async () => {
  const slow = await connected({ query_timeout: 200 });
  const unanswered = queryAsTenant(slow, one, 'SELECT pg_sleep(3)');
  await expect(unanswered.catch(asUnavailable)).resolves.toMatchObject({
    code: 'service_unavailable',
  });
  await expect(queryAsTenant(slow, other, 'SELECT 1')).rejects.toThrow();
});
