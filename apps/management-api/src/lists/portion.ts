import type { EntityManager, EntityTarget } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Sql } from '@glovebox/database';
import type { ResourceEntity } from '../entities/resource.entity';
import type { Portion } from './page';

/** Bytes of the small columns of a row and of the names of its members, about. */
const rowBytes = 512;

/**
 * Selects the ids of a portion. `sized` selects `id` and `bytes` of the rows. One statement weighs
 * and reads them: a row that grows in between would not be the one that was weighed.
 */
const idsIn = (sized: string, { ids, bytesMax, isWhole }: Record<keyof Portion, string>): string =>
  `SELECT id FROM (
     SELECT id, row_number() OVER ordered AS nth, sum(bytes) OVER ordered AS so_far,
       sum(bytes) OVER () AS total
     FROM (${sized}) sized WINDOW ordered AS (ORDER BY array_position(${ids}, id))
   ) weighed
   WHERE CASE WHEN ${isWhole} THEN total <= ${bytesMax} ELSE nth = 1 OR so_far <= ${bytesMax} END`;

/** Reads a portion of the tenant's rows. `more` weighs what is read besides for the row `w`. */
export async function readPortion<Entity extends ResourceEntity>(
  manager: EntityManager,
  entity: Entity,
  tenantId: string,
  portion: Portion,
  more = '0',
): Promise<InstanceType<Entity>[]> {
  const { tablePath, columns } = manager.connection.getMetadata(entity as EntityTarget<object>);
  const bytesOf = portion.isWhole ? bytesAtMost : exactBytes;
  const sized = `SELECT id, ${rowBytes} + ${more} + ${columns.map(bytesOf).join(' + ')} AS bytes
    FROM ${tablePath} w WHERE w.tenant_id = :tenantId AND w.id = ANY (:ids)`;
  const selected = idsIn(sized, {
    ids: 'CAST(:ids AS uuid[])',
    bytesMax: 'CAST(:bytesMax AS bigint)',
    isWhole: 'CAST(:isWhole AS boolean)',
  });
  const found = await manager
    .createQueryBuilder(entity, 'r')
    .where(`r.tenantId = :tenantId AND r.id IN (${selected})`, { tenantId, ...portion })
    .getMany();
  const byId = new Map(found.map((row) => [row.id, row as InstanceType<Entity>]));
  return portion.ids.flatMap((id) => byId.get(id) ?? []);
}

/** Weighs a column of the row `w`. Postgres knows the length of text and sealed bytes unread. */
function exactBytes({ databaseName, type, isArray }: ColumnMetadata): string {
  const column = `w."${databaseName}"`;
  if (type === 'jsonb' || isArray) return `coalesce(octet_length(CAST(${column} AS text)), 0)`;
  return type === 'text' || type === 'bytea' ? `coalesce(octet_length(${column}), 0)` : '0';
}

/** Compressed, JSON may be 256 times as large as what is stored. */
const timesUnpacked = 256;

/**
 * The same at most, without unpacking anything: what is large shall cost nothing before it has its
 * place.
 */
function bytesAtMost(column: ColumnMetadata): string {
  const exact = exactBytes(column);
  if (column.type !== 'jsonb' && !column.isArray) return exact;
  const name = `w."${column.databaseName}"`;
  return `CASE WHEN pg_column_compression(${name}) IS NULL AND pg_column_size(${name}) <= 4096
    THEN ${exact} ELSE coalesce(pg_column_size(${name}), 0) * ${timesUnpacked} END`;
}

/**
 * Reads a portion of what a statement selects. Its first parameter is the list of ids, of this type.
 */
export function queryPortion<Row>(
  sql: Sql,
  { ids, bytesMax, isWhole }: Portion,
  select: string,
  { idType, values }: { readonly idType: string; readonly values: readonly unknown[] },
): Promise<Row[]> {
  const first = values.length + 2;
  const names = { ids: `$1::${idType}[]`, bytesMax: `$${first}::bigint` };
  const selected = idsIn(`SELECT id, octet_length(wanted::text) AS bytes FROM wanted`, {
    ...names,
    isWhole: `$${first + 1}::boolean`,
  });
  return sql.query<Row>(
    `WITH wanted AS MATERIALIZED (${select})
     SELECT wanted.* FROM wanted WHERE id IN (${selected}) ORDER BY array_position(${names.ids}, id)`,
    [ids, ...values, bytesMax, isWhole],
  );
}
