import { useTestDatabase, waitFor } from '@glovebox/testing';
import { toProblem } from '@glovebox/problems';
import { connectDatabase, type Database } from './index';

const testDatabase = useTestDatabase();

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
    'are no superusers, own nothing and do not bypass row-level security: %s',
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
  it('is answered 503 if the server ends its connection, and the process goes on', async () => {
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

  it('leaves nothing when it fails, and gives its connection back', async () => {
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

describe('the shares of connections', () => {
  let database: Database;
  beforeAll(() => {
    database = connectDatabase({ url: testDatabase.dataUrl, app: 'spec', connectionsMax: 8 });
  });
  afterAll(() => database.close());

  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'answered',
      (error: unknown) => toProblem(error).code,
    );
  /** How long all but one in a hundred transactions take. */
  const nearlyAll = async (): Promise<number> => {
    const durations: number[] = [];
    for (let nth = 0; nth < 100; nth += 1) {
      const begun = performance.now();
      await database.shareOf('b').transaction((sql) => sql.query('SELECT 1'));
      durations.push(performance.now() - begun);
    }
    return durations.sort((a, b) => a - b)[98] ?? Infinity;
  };
  const slow = (tenantId: string): Promise<string> =>
    codeOf(database.shareOf(tenantId).query('SELECT pg_sleep(0.5)'));

  it('keep 200 slow statements of one tenant from slowing another tenant down', async () => {
    const quiet = await nearlyAll();
    const unending = new AbortController();
    const held = Array.from({ length: 200 }, async () => {
      while (!unending.signal.aborted) await slow('a');
    });
    await waitFor(() => database.shares.heldBy('a') === 4);
    const beside = await nearlyAll();
    expect(database.shares.heldBy('a')).toBe(4);
    unending.abort();
    await Promise.all(held);
    expect(beside).toBeLessThan(Math.max(5 * quiet, 250));
  });

  it('refuse with share_exhausted a tenant that holds its share and has 200 statements waiting', async () => {
    const all = Array.from({ length: 210 }, () => slow('a'));
    expect(await slow('a')).toBe('share_exhausted');
    expect(await codeOf(database.shareOf('b').query('SELECT 1'))).toBe('answered');
    const answers = await Promise.all(all);
    // In two seconds, four connections serve half a second each.
    expect(answers.filter((answer) => answer === 'answered').length).toBeGreaterThanOrEqual(12);
    expect(new Set(answers)).toEqual(new Set(['answered', 'share_exhausted']));
  });

  it('do not count the statements of the process itself', async () => {
    const all = Array.from({ length: 20 }, () => slow('a'));
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await Promise.all(all);
  });
});
