import { randomUUID } from 'node:crypto';
import { recordEach, type Sql } from '@glovebox/database';
import { appendDefinition, isUnderstood } from '@glovebox/definitions';
import { toApplicationDefinition } from '../applications/issue-application';
import type { Application } from '../entities/application.entity';
import type { RestoreContext } from './context';

/** The definitions of a part are written under the lock on the head of the log. */
const applicationsAtOnce = 200;
const beforeAll = '00000000-0000-0000-0000-000000000000';

export interface EndedKeys {
  readonly keys: number;
  /** A newer release wrote these applications, and has to end their keys. */
  readonly newerApplications: readonly string[];
}

/** Ends all API keys of a tenant, but for those of applications that this release is too old for. */
export async function endKeys(ctx: RestoreContext, tenantId: string): Promise<EndedKeys> {
  const tenants = await ctx.database.query('SELECT FROM tenants WHERE id = $1', [tenantId]);
  if (tenants.length === 0) throw new Error(`There is no tenant ${tenantId}`);
  let keys = 0;
  const newerApplications: string[] = [];
  for (let after: string | undefined = beforeAll; after !== undefined;) {
    const from: string = after;
    const part = await ctx.database.transaction((sql) => endPart(sql, ctx, tenantId, from));
    keys += part.keys;
    newerApplications.push(...part.newerApplications);
    after = part.last;
  }
  return { keys, newerApplications };
}

async function endPart(
  sql: Sql,
  { ring }: RestoreContext,
  tenantId: string,
  after: string,
): Promise<EndedKeys & { readonly last: string | undefined }> {
  // In the order of every change: tenant, rows, head of the log.
  await sql.query('SELECT FROM tenants WHERE id = $1 FOR NO KEY UPDATE', [tenantId]);
  const applications = await sql.query<Application>(
    `SELECT id, tenant_id AS "tenantId", type, permissions, rules, expires_at AS "expiresAt",
       allowed_origins AS "allowedOrigins"
     FROM applications a
     WHERE tenant_id = $1 AND id > $3 AND EXISTS (
       SELECT FROM application_keys k WHERE k.tenant_id = $1 AND k.application_id = a.id)
     ORDER BY id LIMIT $2 FOR UPDATE`,
    [tenantId, applicationsAtOnce, after],
  );
  const newerApplications: string[] = [];
  const understood: Application[] = [];
  for (const application of applications) {
    const { id } = application;
    const isKnown = await isUnderstood(sql, ring, { kind: 'application', id, tenantId });
    if (isKnown) understood.push(application);
    else newerApplications.push(id);
  }
  const ids = understood.map(({ id }) => id);
  const ended = await sql.query(
    'DELETE FROM application_keys WHERE tenant_id = $1 AND application_id = ANY ($2) RETURNING id',
    [tenantId, ids],
  );
  const line = { operation: 'application.delete_key', entityType: 'application' } as const;
  const author = { tenantId, actorId: null, traceId: randomUUID() };
  await recordEach(sql, { ...author, ...line, outcome: 'success' }, ids);
  for (const application of understood) {
    await appendDefinition(sql, ring, toApplicationDefinition(application, []));
  }
  return { keys: ended.length, newerApplications, last: applications.at(-1)?.id };
}
