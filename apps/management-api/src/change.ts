import type { EntityManager } from 'typeorm';
import { record } from '@glovebox/database';
import { appendDefinition, appendDeletion, type Definition } from '@glovebox/definitions';
import type { Actor } from '@glovebox/vault';
import type { ManagementContext } from './context';
import { asSql, inTenant } from './database/in-tenant';

/** Who changes something. The operator's command line is no application. */
export interface Author {
  readonly tenantId: string;
  readonly actorId: string | null;
  readonly traceId: string;
}

export const authorOf = ({ principal, traceId }: Actor): Author => ({
  tenantId: principal.tenantId,
  actorId: principal.applicationId,
  traceId,
});

type Deletion = Pick<Definition, 'kind' | 'id'>;

/** What a change did. Nothing written and nothing deleted: it was no change at all. */
export interface Changed<Result> {
  readonly result: Result;
  readonly definitions?: readonly Definition[];
  readonly deletions?: readonly Deletion[];
}

/**
 * Rows, lines of the audit log and the new state for the data plane in one transaction; and no
 * answer before the data plane was told.
 */
export async function change<Result>(
  ctx: ManagementContext,
  author: Author,
  action: 'create' | 'update' | 'delete',
  work: (manager: EntityManager) => Promise<Changed<Result>>,
): Promise<Result> {
  const { tenantId } = author;
  const { result, version } = await inTenant(ctx.dataSource, tenantId, async (manager) => {
    const sql = asSql(manager);
    const { result, definitions = [], deletions = [] } = await work(manager);
    for (const { kind, id } of [...definitions, ...deletions]) {
      await record(sql, {
        ...author,
        operation: `${kind}.${action}`,
        entityType: kind,
        entityId: id,
        outcome: 'success',
      });
    }
    // Last of all: one transaction at a time holds the head of the log.
    let version: number | undefined;
    for (const definition of definitions) {
      version = await appendDefinition(sql, ctx.ring, definition);
    }
    for (const { kind, id } of deletions) {
      version = await appendDeletion(sql, { kind, id, tenantId });
    }
    return { result, version };
  });
  if (version !== undefined) await ctx.definitions.relay.announce(version);
  return result;
}
