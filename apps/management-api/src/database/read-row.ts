import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { ResourceEntity } from '../entities/resource.entity';
import type { SharedDataSource } from './data-source';
import { eachInTenant } from './in-tenant';

type Row = Readonly<Record<string, unknown>>;

interface Reading {
  readonly statement: string;
  readonly columns: readonly ColumnMetadata[];
}

const versionColumn = 'version_of_definition';

/** One statement per entity: TypeORM takes longer to build a statement than to run it. */
const readings = new WeakMap<ResourceEntity, Reading>();

/**
 * Reads a row of the tenant by id in one round trip, mapped as TypeORM maps it, with the version of
 * its definition.
 */
export async function readRow<Entity extends ResourceEntity>(
  dataSource: SharedDataSource,
  entity: Entity,
  { tenantId, id }: { tenantId: string; id: string },
): Promise<{ readonly row: InstanceType<Entity>; readonly version: number } | undefined> {
  const { statement, columns } = readingOf(dataSource, entity);
  const values = [tenantId, id, entity.kind];
  const [row] = await eachInTenant(dataSource, tenantId).query<Row>(statement, values);
  if (!row) return undefined;
  const found = new entity();
  for (const column of columns) {
    const value = dataSource.driver.prepareHydratedValue(
      row[column.databaseName],
      column,
    ) as unknown;
    column.setEntityValue(found, value);
  }
  return { row: found as InstanceType<Entity>, version: Number(row[versionColumn]) };
}

function readingOf(dataSource: SharedDataSource, entity: ResourceEntity): Reading {
  const known = readings.get(entity);
  if (known) return known;
  const { columns, tablePath } = dataSource.getMetadata(entity);
  const names = columns.map(({ databaseName }) => `"${databaseName}"`).join(', ');
  const statement = `SELECT ${names}, (SELECT version FROM definition_log
      WHERE kind = $3 AND id = $2) AS ${versionColumn}
    FROM ${tablePath} WHERE tenant_id = $1 AND id = $2`;
  const reading = { statement, columns };
  readings.set(entity, reading);
  return reading;
}
