import type { EntityManager } from 'typeorm';
import { Problem } from '@glovebox/problems';
import type { ResourceEntity } from '../entities/resource.entity';

/**
 * The row as it is now, held against every other writer until the end of the transaction: what two
 * callers change at once is changed one after the other, and neither loses anything.
 */
export async function lockRow<Entity extends ResourceEntity>(
  manager: EntityManager,
  entity: Entity,
  { tenantId, id }: { tenantId: string; id: string },
): Promise<InstanceType<Entity>> {
  const row = await manager
    .createQueryBuilder(entity, 'r')
    .where('r.tenantId = :tenantId AND r.id = :id', { tenantId, id })
    .setLock('pessimistic_write')
    .getOne();
  if (!row) throw new Problem('not_found');
  return row as InstanceType<Entity>;
}
