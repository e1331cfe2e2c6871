import type { EntityManager, QueryRunner } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { asUnavailable, type Sql, type Statement } from '@glovebox/database';
import type { SharedDataSource } from './data-source';
import { TenantQueryRunner } from './tenant-query-runner';

type Work<Result> = (manager: EntityManager) => Promise<Result>;

/**
 * Runs a transaction in which row-level security admits this tenant's rows alone, on a connection
 * of the tenant's share. Must not be nested: a tenant whose transactions hold its whole share would
 * wait for itself.
 */
export const inTenant = <Result>(
  dataSource: SharedDataSource,
  tenantId: string,
  work: Work<Result>,
): Promise<Result> =>
  statementsInTenant(dataSource, tenantId, (manager) => manager.transaction(work));

/**
 * Like `inTenant`, but each statement is a transaction of its own. Work of a single statement takes
 * one round trip.
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

/** Presents a tenant's connection to the libraries that use plain SQL. */
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
 * TypeORM does not support named statements. Its plain result differs for UPDATE and DELETE, where
 * it is [rows, count]; its structured result does not.
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
 * Runs each statement on its own connection and commits it before returning its rows. An audit line
 * that it wrote stays, whatever the caller does with the rows.
 */
export function eachInTenant(dataSource: SharedDataSource, tenantId: string): Sql {
  return {
    query: (statement, values) =>
      onConnection(dataSource, tenantId, (runner) => rowsOf(runner, statement, values)),
  };
}

/** Adds rows of several tenants in one statement, which sees the rows of none. */
export const ofAllTenants = (dataSource: SharedDataSource): Sql =>
  withoutTenant(dataSource, 'all tenants');

/** Looks up what a tenant is found by. */
export const ofNoTenant = (dataSource: SharedDataSource): Sql =>
  withoutTenant(dataSource, 'no tenant');

const withoutTenant = (dataSource: SharedDataSource, share: string): Sql => ({
  query: (statement, values) =>
    dataSource.shares.hold(share, async () => {
      const runner = dataSource.createQueryRunner();
      try {
        return await rowsOf(runner, statement, values);
      } catch (error) {
        throw asUnavailable(error);
      } finally {
        await runner.release();
      }
    }),
});
