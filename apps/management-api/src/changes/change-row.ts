import type { EntityManager } from 'typeorm';
import { change, type Author, type Changed } from './change';
import type { ManagementContext } from '../context';
import { lockRow, type Resource } from '../database/lock-row';

/** A change of one row, which is held against every other writer until it is done. */
export function changeRow<Entity extends Resource, Result>(
  ctx: ManagementContext,
  author: Author,
  action: 'update' | 'delete',
  { entity, id }: { entity: Entity; id: string },
  work: (manager: EntityManager, row: InstanceType<Entity>) => Promise<Changed<Result>>,
): Promise<Result> {
  const { tenantId } = author;
  return change(ctx, author, action, async (manager) =>
    work(manager, await lockRow(manager, entity, { tenantId, id })),
  );
}
