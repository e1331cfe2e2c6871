import type { EntityManager } from 'typeorm';
import { enterTenant, type Sql, type Statement } from '@glovebox/database';
import type { SharedDataSource } from './data-source';

/**
 * A transaction in which row-level security shows and takes this tenant's rows alone, on a
 * connection of the tenant's share. None within another one: a tenant whose transactions hold its
 * share would wait for itself.
 */
export function inTenant<Result>(
  dataSource: SharedDataSource,
  tenantId: string,
  work: (manager: EntityManager) => Promise<Result>,
): Promise<Result> {
  return dataSource.shares.hold(tenantId, () =>
    dataSource.transaction(async (manager) => {
      await enterTenant(asSql(manager), tenantId);
      return work(manager);
    }),
  );
}

/** TypeORM's transaction, for the libraries that speak plain SQL. */
export function asSql(manager: EntityManager): Sql {
  return {
    async query<Row>(statement: Statement, values?: readonly unknown[]) {
      const runner = manager.queryRunner;
      if (!runner) throw new Error('asSql() needs the manager of a transaction');
      // The plain result of an UPDATE or DELETE is [rows, count]; the structured one is the same for all.
      // TypeORM knows no names of statements.
      const text = typeof statement === 'string' ? statement : statement.text;
      const result = await runner.query(text, values && [...values], true);
      return result.records as Row[];
    },
  };
}

/**
 * Each statement in a transaction of its own, committed before its rows are handed over: a record
 * that it has written stays, whatever its caller makes of the rows.
 */
export function eachInTenant(dataSource: SharedDataSource, tenantId: string): Sql {
  return {
    query: (statement, values) =>
      inTenant(dataSource, tenantId, (manager) => asSql(manager).query(statement, values)),
  };
}
