import type { ClientBase } from 'pg';
import { QueryFailedError, QueryResult } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { queryAsTenant } from '@glovebox/database';

/**
 * TypeORM's runner for one connection of a tenant. No statement runs outside the tenant: each is a
 * transaction of its own unless a longer transaction was begun.
 */
export class TenantQueryRunner extends PostgresQueryRunner {
  constructor(
    driver: PostgresDriver,
    private readonly tenantId: string,
  ) {
    super(driver, 'master');
  }

  override async query(
    text: string,
    values?: unknown[],
    structured?: boolean,
  ): ReturnType<PostgresQueryRunner['query']> {
    if (this.transactionDepth > 0) return super.query(text, values, structured) as unknown;
    const client = (await this.connect()) as ClientBase;
    try {
      const { rows, rowCount } = await queryAsTenant(client, this.tenantId, text, values);
      if (!structured) return rows;
      return Object.assign(new QueryResult(), { raw: rows, records: rows, affected: rowCount });
    } catch (error) {
      throw new QueryFailedError(text, values, error instanceof Error ? error : new Error());
    }
  }
}
