import type { EntityManager } from 'typeorm';
import { change, type Action, type Author, type ChangeOutcome } from './change';
import type { ManagementContext } from '../context';
import { lockRow } from '../database/lock-row';
import type { ResourceEntity } from '../entities/resource.entity';

/** Changes one row. The row is locked against other writers until the end of the transaction. */
export function changeRow<Entity extends ResourceEntity, Result>(
  ctx: ManagementContext,
  author: Author,
  action: Action,
  { entity, id }: { entity: Entity; id: string },
  work: (manager: EntityManager, row: InstanceType<Entity>) => Promise<ChangeOutcome<Result>>,
): Promise<Result> {
  const { tenantId } = author;
  return change(ctx, author, action, async (manager) =>
    work(manager, await lockRow(manager, entity, { tenantId, id })),
  );
}
