import { randomUUID } from 'node:crypto';
import { recordEach, type Sql } from '@glovebox/database';
import { appendDefinition } from '@glovebox/definitions';
import { toApplicationDefinition } from '../applications/issue-application';
import type { Application } from '../entities/application.entity';
import type { RestoreContext } from './context';

/** The definitions of a part are written under the lock on the head of the log. */
const applicationsAtOnce = 200;

/** Ends all API keys of a tenant, and returns their number. */
export async function endKeys(ctx: RestoreContext, tenantId: string): Promise<number> {
  const tenants = await ctx.database.query('SELECT FROM tenants WHERE id = $1', [tenantId]);
  if (tenants.length === 0) throw new Error(`There is no tenant ${tenantId}`);
  for (let ended = 0; ;) {
    const part = await ctx.database.transaction((sql) => endPart(sql, ctx, tenantId));
    ended += part;
    if (part === 0) return ended;
  }
}

async function endPart(sql: Sql, { ring }: RestoreContext, tenantId: string): Promise<number> {
  // In the order of every change: tenant, rows, head of the log.
  await sql.query('SELECT FROM tenants WHERE id = $1 FOR NO KEY UPDATE', [tenantId]);
  const applications = await sql.query<Application>(
    `SELECT id, tenant_id AS "tenantId", type, permissions, rules, expires_at AS "expiresAt",
       allowed_origins AS "allowedOrigins"
     FROM applications a
     WHERE tenant_id = $1 AND EXISTS (
       SELECT FROM application_keys k WHERE k.tenant_id = $1 AND k.application_id = a.id)
     ORDER BY id LIMIT $2 FOR UPDATE`,
    [tenantId, applicationsAtOnce],
  );
  const ids = applications.map(({ id }) => id);
  const ended = await sql.query(
    'DELETE FROM application_keys WHERE tenant_id = $1 AND application_id = ANY ($2) RETURNING id',
    [tenantId, ids],
  );
  const line = { operation: 'application.delete_key', entityType: 'application' } as const;
  const author = { tenantId, actorId: null, traceId: randomUUID() };
  await recordEach(sql, { ...author, ...line, outcome: 'success' }, ids);
  for (const application of applications) {
    await appendDefinition(sql, ring, toApplicationDefinition(application, []));
  }
  return ended.length;
}
