import type { EntityManager } from 'typeorm';
import { record } from '@glovebox/database';
import { appendDefinition, type Definition } from '@glovebox/definitions';
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

/**
 * Rows, lines of the audit log and the new state for the data plane in one transaction; and no
 * answer before the data plane was told.
 */
export async function change<Result>(
  ctx: ManagementContext,
  author: Author,
  action: 'create',
  work: (manager: EntityManager) => Promise<{ result: Result; definitions: Definition[] }>,
): Promise<Result> {
  const { result, version } = await inTenant(ctx.dataSource, author.tenantId, async (manager) => {
    const sql = asSql(manager);
    const { result, definitions } = await work(manager);
    for (const { kind, id } of definitions) {
      await record(sql, {
        ...author,
        operation: `${kind}.${action}`,
        entityType: kind,
        entityId: id,
        outcome: 'success',
      });
    }
    // Last of all: one transaction at a time holds the head of the log.
    let version = 0;
    for (const definition of definitions) {
      version = await appendDefinition(sql, ctx.ring, definition);
    }
    return { result, version };
  });
  await ctx.definitions.relay.announce(version);
  return result;
}
