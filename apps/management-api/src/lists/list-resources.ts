import type { SharedDataSource } from '../database/data-source';
import { inTenant, statementsInTenant } from '../database/in-tenant';
import type { ResourceEntity } from '../entities/resource.entity';
import { listIds, type ListQuery } from './listing';
import { Page, rowsOf } from './page';
import { readPortion } from './portion';

/** Lists resources whose answers are made of their rows alone. `more` are further columns to match. */
export async function listResources<Entity extends ResourceEntity>(
  dataSource: SharedDataSource,
  entity: Entity,
  tenantId: string,
  query: ListQuery,
  show: (row: InstanceType<Entity>) => unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<Page> {
  const { ids, pagination } = await inTenant(dataSource, tenantId, (manager) =>
    listIds(manager, entity, tenantId, query, more),
  );
  const rows = rowsOf(
    ids,
    (portion) =>
      statementsInTenant(dataSource, tenantId, (manager) =>
        readPortion(manager, entity, tenantId, portion),
      ),
    show,
  );
  return new Page(pagination, rows);
}
