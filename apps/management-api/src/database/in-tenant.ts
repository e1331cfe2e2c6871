import type { EntityManager, QueryRunner } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { Sql, Statement } from '@glovebox/database';
import type { SharedDataSource } from './data-source';
import { TenantQueryRunner } from './tenant-query-runner';

type Work<Result> = (manager: EntityManager) => Promise<Result>;

/**
 * A transaction in which row-level security shows and takes this tenant's rows alone, on a
 * connection of the tenant's share. None within another one: a tenant whose transactions hold its
 * share would wait for itself.
 */
export const inTenant = <Result>(
  dataSource: SharedDataSource,
  tenantId: string,
  work: Work<Result>,
): Promise<Result> =>
  statementsInTenant(dataSource, tenantId, (manager) => manager.transaction(work));

/**
 * As `inTenant`, with each statement in a transaction of its own: one round trip for what needs a
 * single statement.
 */
export const statementsInTenant = <Result>(
  dataSource: SharedDataSource,
  tenantId: string,
  work: Work<Result>,
): Promise<Result> =>
  onConnection(dataSource, tenantId, (runner) => {
    const manager = dataSource.createEntityManager(runner);
    Object.assign(runner, { manager });
    return work(manager);
  });

function onConnection<Result>(
  dataSource: SharedDataSource,
  tenantId: string,
  work: (runner: TenantQueryRunner) => Promise<Result>,
): Promise<Result> {
  return dataSource.shares.hold(tenantId, async () => {
    const runner = new TenantQueryRunner(dataSource.driver as PostgresDriver, tenantId);
    try {
      return await work(runner);
    } finally {
      await runner.release();
    }
  });
}

/** A tenant's connection, for the libraries that speak plain SQL. */
export function asSql(manager: EntityManager): Sql {
  return {
    query(statement, values) {
      const runner = manager.queryRunner;
      if (!runner) throw new Error('asSql() needs the manager of a tenant');
      return rowsOf(runner, statement, values);
    },
  };
}

/**
 * TypeORM knows no names of statements. Its plain result of an UPDATE or DELETE is [rows, count]; the
 * structured one is the same for all.
 */
async function rowsOf<Row>(
  runner: QueryRunner,
  statement: Statement,
  values?: readonly unknown[],
): Promise<Row[]> {
  const text = typeof statement === 'string' ? statement : statement.text;
  const { records } = await runner.query(text, values && [...values], true);
  return records as Row[];
}

/**
 * Each statement on a connection for itself, committed before its rows are handed over: a record
 * that it has written stays, whatever its caller makes of the rows.
 */
export function eachInTenant(dataSource: SharedDataSource, tenantId: string): Sql {
  return {
    query: (statement, values) =>
      onConnection(dataSource, tenantId, (runner) => rowsOf(runner, statement, values)),
  };
}
