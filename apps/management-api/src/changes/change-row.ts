import type { EntityManager } from 'typeorm';
import { versionOf } from '@glovebox/definitions';
import { change, type Action, type Author, type ChangeOutcome } from './change';
import type { ManagementContext } from '../context';
import { asSql } from '../database/in-tenant';
import { lockRow } from '../database/lock-row';
import type { ResourceEntity } from '../entities/resource.entity';

/**
 * Changes one row. The row is locked against other writers until the end of the transaction, so that
 * of those who mean the same version one alone succeeds.
 */
export function changeRow<Entity extends ResourceEntity, Result>(
  ctx: ManagementContext,
  author: Author,
  action: Action,
  { entity, id }: { entity: Entity; id: string },
  work: (manager: EntityManager, row: InstanceType<Entity>) => Promise<ChangeOutcome<Result>>,
): Promise<Result> {
  const { tenantId, tags } = author;
  return change(ctx, author, action, async (manager) => {
    const row = await lockRow(manager, entity, { tenantId, id });
    if (tags) {
      const version = await versionOf(asSql(manager), entity.kind, id);
      tags.require({ id, version });
      // It stays where the work changes nothing.
      if (action !== 'delete') tags.tell({ id, version });
    }
    return work(manager, row);
  });
}
