import type { DataSource, EntityManager } from 'typeorm';
import { enterTenant, type Sql } from '@glovebox/database';

/** A transaction in which row-level security shows and takes this tenant's rows alone. */
export function inTenant<Result>(
  dataSource: DataSource,
  tenantId: string,
  work: (manager: EntityManager) => Promise<Result>,
): Promise<Result> {
  return dataSource.transaction(async (manager) => {
    await enterTenant(asSql(manager), tenantId);
    return work(manager);
  });
}

/** TypeORM's transaction, for the libraries that speak plain SQL. */
export function asSql(manager: EntityManager): Sql {
  return {
    async query<Row>(statement: string, values?: readonly unknown[]) {
      const runner = manager.queryRunner;
      if (!runner) throw new Error('asSql() needs the manager of a transaction');
      // The plain result of an UPDATE or DELETE is [rows, count]; the structured one is the same for all.
      const result = await runner.query(statement, values && [...values], true);
      return result.records as Row[];
    },
  };
}
