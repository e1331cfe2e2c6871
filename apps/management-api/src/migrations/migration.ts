import type { MigrationInterface, QueryRunner } from 'typeorm';

export interface Migration extends MigrationInterface {
  /**
   * `expand` adds, and the release before goes on beside it. `contract` takes away what that
   * release no longer uses: older ones cannot run any more.
   */
  readonly kind: 'expand' | 'contract';
}

/**
 * Makes the migration record itself in `done_migrations`, which the apps read, in its own
 * transaction. TypeORM's own table has no kinds, and the apps may not read it.
 */
export function recorded(Done: new () => Migration): new () => Migration {
  const { name } = Done;
  const Recorded = class extends Done {
    override async up(queryRunner: QueryRunner): Promise<void> {
      await super.up(queryRunner);
      await note(
        queryRunner,
        `INSERT INTO done_migrations VALUES ('${name}', '${this.kind}')
         ON CONFLICT (name) DO UPDATE SET kind = excluded.kind`,
      );
    }

    override async down(queryRunner: QueryRunner): Promise<void> {
      await note(queryRunner, `DELETE FROM done_migrations WHERE name = '${name}'`);
      await super.down(queryRunner);
    }
  };
  // TypeORM records and sorts migrations by the names of their classes.
  return Object.defineProperty(Recorded, 'name', { value: name });
}

/** The first migrations come before the table. */
const note = (queryRunner: QueryRunner, statement: string): Promise<unknown> =>
  queryRunner.query(`
    DO $$ BEGIN
      IF to_regclass('done_migrations') IS NOT NULL THEN ${statement}; END IF;
    END $$`);
