import type { EntityManager } from 'typeorm';
import type { Sql } from '@glovebox/database';
import { versionOf, type DefinitionKind } from '@glovebox/definitions';
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
  const { tenantId } = author;
  return change(ctx, author, action, async (manager) => {
    const row = await lockRow(manager, entity, { tenantId, id });
    await requireVersion(asSql(manager), author, action, { kind: entity.kind, id });
    return work(manager, row);
  });
}

/** Refuses a change that means another version. The row of the resource is locked. */
export async function requireVersion(
  sql: Sql,
  { tags }: Pick<Author, 'tags'>,
  action: Action,
  { kind, id }: { readonly kind: DefinitionKind; readonly id: string },
): Promise<void> {
  if (!tags) return;
  const version = await versionOf(sql, kind, id);
  tags.require({ id, version });
  // It stays where the work changes nothing.
  if (action !== 'delete') tags.tell({ id, version });
}
