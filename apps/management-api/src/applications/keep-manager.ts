import type { EntityManager } from 'typeorm';
import type { Sql } from '@glovebox/database';
import { Problem } from '@glovebox/problems';
import { asSql } from '../database/in-tenant';
import type { Application } from '../entities/application.entity';

/**
 * Makes a change that may take a key of a management application away, and refuses it if nobody
 * could come back: if it leaves no key that may create applications without an end, or none at all
 * where all had an end before. Two such changes at once come one after the other.
 */
export async function keepManager(
  manager: EntityManager,
  { tenantId, type }: Pick<Application, 'tenantId' | 'type'>,
  change: () => Promise<unknown>,
): Promise<void> {
  if (type !== 'management') {
    await change();
    return;
  }
  const sql = asSql(manager);
  await sql.query(`SELECT 1 FROM tenants WHERE id = $1 FOR NO KEY UPDATE`, [tenantId]);
  const before = await managersOf(sql, tenantId);
  await change();
  const left = await managersOf(sql, tenantId);
  if (left.lasting >= Math.min(before.lasting, 1) && left.live >= Math.min(before.live, 1)) return;
  throw new Problem('conflict', {
    detail:
      'The tenant would keep no key without an end that may create applications. Make another one ' +
      'first. A leaked key is stopped at once by POST /applications/{id}/regenerate, which answers ' +
      'a new one.',
  });
}

interface Managers {
  /** Applications that have a key and may create applications now. */
  readonly live: number;
  /** Those of them that never expire. */
  readonly lasting: number;
}

async function managersOf(sql: Sql, tenantId: string): Promise<Managers> {
  const [counts] = await sql.query<Managers>(
    `SELECT count(*)::int AS live, (count(*) FILTER (WHERE expires_at IS NULL))::int AS lasting
     FROM applications a
     WHERE a.tenant_id = $1 AND a.type = 'management'
       AND (a.expires_at IS NULL OR a.expires_at > now())
       AND (a.permissions @> '{application:create}'
         OR a.rules @> '[{"permissions": ["application:create"]}]')
       AND EXISTS (
         SELECT FROM application_keys k WHERE k.tenant_id = $1 AND k.application_id = a.id)`,
    [tenantId],
  );
  return counts ?? { live: 0, lasting: 0 };
}
