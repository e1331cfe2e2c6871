import { createTestDatabase, waitFor, type TestDatabase } from '@glovebox/testing';
import { connectDatabase, type Database } from './index';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

async function asRole(url: string, work: (database: Database) => Promise<void>): Promise<void> {
  const database = connectDatabase({ url, app: 'spec', connectionsMax: 2 });
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

describe('the roles of the apps', () => {
  it.each(['managementUrl', 'dataUrl'] as const)(
    '%s is no superuser, owns nothing and does not pass row-level security',
    async (role) => {
      await asRole(testDatabase[role], async (database) => {
        const [rights] = await database.query(
          `SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,
             (SELECT count(*)::int FROM pg_class WHERE relowner = pg_roles.oid) AS owned
           FROM pg_roles WHERE rolname = current_user`,
        );
        expect(rights).toEqual({
          rolsuper: false,
          rolbypassrls: false,
          rolcreaterole: false,
          rolcreatedb: false,
          owned: 0,
        });
        await expect(database.query('CREATE TABLE mine (id int)')).rejects.toMatchObject({
          code: '42501',
        });
      });
    },
  );
});

describe('a transaction', () => {
  it('whose connection the server ends is a 503, and no end of the process', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('uncaughtException', note);
    await asRole(testDatabase.dataUrl, async (database) => {
      const failing = database.transaction(async (sql) => {
        const [backend] = await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        await asRole(testDatabase.adminUrl, async (admin) => {
          await admin.query('SELECT pg_terminate_backend($1)', [backend?.pid]);
          await waitFor(async () => {
            const alive = 'SELECT 1 FROM pg_stat_activity WHERE pid = $1';
            return (await admin.query(alive, [backend?.pid])).length === 0;
          });
        });
        await sql.query('SELECT 1');
      });
      await expect(failing).rejects.toMatchObject({ code: 'service_unavailable' });
      expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });
    process.off('uncaughtException', note);
    expect(unhandled).toEqual([]);
  });

  it('that fails leaves nothing and gives its connection back', async () => {
    await asRole(testDatabase.dataUrl, async (database) => {
      for (let round = 0; round < 5; round += 1) {
        const failing = database.transaction(async (sql) => {
          await sql.query(
            `INSERT INTO audit_log (tenant_id, operation, entity_type, entity_id, outcome, trace_id)
             VALUES (gen_random_uuid(), 'x', 'x', 'x', 'success', 'rolled-back')`,
          );
          throw new Error('no');
        });
        await expect(failing).rejects.toThrow('no');
      }
    });
    await asRole(testDatabase.adminUrl, async (database) => {
      expect(
        await database.query(`SELECT 1 FROM audit_log WHERE trace_id = 'rolled-back'`),
      ).toEqual([]);
    });
  });
});
