import type { DataSource } from 'typeorm';
import { createEmptyDatabase, type TestDatabase } from '@glovebox/testing';
import { buildIndex, shortWaits, withoutLongWaits } from '../migrations/build-index';
import { createMigrationSource, migrations } from './data-source';
import { fillTables, judgeNext, plantedMigration, withMigrations, type Work } from './spec-locks';

let database: TestDatabase;
let source: DataSource;

beforeAll(async () => {
  database = await createEmptyDatabase();
  source = createMigrationSource(database.ownerUrl);
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});

it('no migration makes writers of a large table wait, up or down', async () => {
  await withMigrations(source, migrations.slice(0, 1));
  await source.runMigrations({ transaction: 'each' });
  for (let count = 2; count <= migrations.length; count += 1) {
    await fillTables(source);
    await withMigrations(source, migrations.slice(0, count));
    await judgeNext(source, 'up');
    await fillTables(source);
    await judgeNext(source, 'down');
    await judgeNext(source, 'up');
  }
  await fillTables(source);
});

describe('on tables with rows, a migration', () => {
  beforeAll(async () => {
    await withMigrations(source, migrations);
    await source.runMigrations({ transaction: 'each' });
    await fillTables(source);
  });

  const judged = async (work: Work, inTransaction = true): Promise<void> => {
    await withMigrations(source, [...migrations, plantedMigration(work, inTransaction)]);
    await judgeNext(source, 'up');
    await source.query(`DELETE FROM migrations WHERE name LIKE 'Planted%'`);
  };
  const inTurn =
    (...statements: string[]): Work =>
    async (queryRunner) => {
      for (const statement of statements) await queryRunner.query(statement);
    };

  it.each([
    [
      'add a column with a default that is computed for each row',
      'ALTER TABLE ended_runs ADD COLUMN moon uuid DEFAULT gen_random_uuid()',
      'writes ended_runs_default.* anew',
    ],
    [
      'change the type of a column',
      'ALTER TABLE tokens ALTER COLUMN type TYPE varchar(100)',
      'tokens anew|while writers wait for tokens',
    ],
    [
      'build an index beside nobody',
      'CREATE INDEX moons ON audit_log (trace_id)',
      'while writers wait for audit_log.*ShareLock',
    ],
    [
      'make a column required by reading them all',
      'ALTER TABLE reactor_runs ALTER COLUMN reactor_id DROP NOT NULL, ALTER COLUMN reactor_id SET NOT NULL',
      'while writers wait for reactor_runs.*AccessExclusiveLock',
    ],
    [
      'check a new rule on all rows',
      `ALTER TABLE calls ADD CHECK (method <> '')`,
      'while writers wait for calls',
    ],
    [
      'refer to another table and check it on all rows',
      'ALTER TABLE reactors ADD FOREIGN KEY (tenant_id) REFERENCES tenants (id)',
      'while writers wait for reactors',
    ],
    ['fill a column in one go', `UPDATE tokens SET mask = NULL`, 'no batches'],
    ['empty a table in one go', `DELETE FROM idempotency_keys`, 'no batches'],
    [
      'count rows under a lock',
      'LOCK TABLE tokens IN SHARE MODE; SELECT count(*) FROM tokens',
      'reads',
    ],
  ])('may not %s', async (_, statement, message) => {
    await expect(judged(inTurn(shortWaits(), statement))).rejects.toThrow(new RegExp(message));
    const alone = inTurn(`SET lock_timeout = '2s'`, statement);
    await expect(judged(alone, false)).rejects.toThrow(new RegExp(message));
  });

  it('may not wait for a lock without a limit', async () => {
    const statement = 'ALTER TABLE tokens ADD COLUMN moon text';
    await expect(judged(inTurn(statement))).rejects.toThrow('has no lock_timeout');
    await expect(judged(inTurn(`SET LOCAL lock_timeout = '5s'`, statement))).rejects.toThrow(
      'has no lock_timeout',
    );
  });

  it('may not let writers wait behind it for a vacuum', async () => {
    const statement = 'ALTER TABLE tokens ADD COLUMN moon text';
    await expect(judged(inTurn(shortWaits(), statement))).rejects.toThrow('for a vacuum of tokens');
  });

  it('may add columns with constant defaults', async () => {
    const statement = `ALTER TABLE ended_runs ADD COLUMN moon text NOT NULL DEFAULT 'full'`;
    await judged(inTurn(shortWaits('ended_runs'), statement));
    await source.query('ALTER TABLE ended_runs DROP COLUMN moon');
  });

  it('may make a column required by a rule that is checked beside writers', async () => {
    await source.query('ALTER TABLE tokens ALTER COLUMN type DROP NOT NULL');
    await judged(async (queryRunner) => {
      await withoutLongWaits(
        queryRunner,
        ['tokens'],
        ['ALTER TABLE tokens ADD CONSTRAINT typed CHECK (type IS NOT NULL) NOT VALID'],
      );
      await queryRunner.query('ALTER TABLE tokens VALIDATE CONSTRAINT typed');
      await withoutLongWaits(
        queryRunner,
        ['tokens'],
        [
          'ALTER TABLE tokens ALTER COLUMN type SET NOT NULL',
          'ALTER TABLE tokens DROP CONSTRAINT typed',
        ],
      );
    }, false);
  });

  it('may build an index and fill a column in batches beside writers', async () => {
    await judged(async (queryRunner) => {
      await buildIndex(queryRunner, 'tokens_moon', 'tokens (type)');
      for (let from = 0; from < 3; from += 1) {
        await queryRunner.query(
          `UPDATE tokens SET mask = NULL WHERE id IN
             (SELECT id FROM tokens ORDER BY id OFFSET $1 LIMIT 500)`,
          [from * 500],
        );
      }
    }, false);
    await source.query('DROP INDEX tokens_moon');
  });
});
