import type { EntityManager } from 'typeorm';
import { notFound } from '@glovebox/problems';
import type { ResourceEntity } from '../entities/resource.entity';

/**
 * Reads the current row and locks it against other writers until the end of the transaction.
 * Concurrent changes happen one after the other, and none is lost.
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
  if (!row) throw notFound(entity.noun);
  return row as InstanceType<Entity>;
}
