import type { EntityManager } from 'typeorm';
import { Problem } from '@glovebox/problems';
import { asSql } from '../database/in-tenant';
import type { Application } from '../entities/application.entity';

const idsShown = 20;

/** Refuses to delete an application that reactors or proxies act as, and names some of them. */
export async function refuseUsed(
  manager: EntityManager,
  { tenantId, id }: Pick<Application, 'tenantId' | 'id'>,
): Promise<void> {
  const users = await asSql(manager).query<{ kind: string; id: string; total: number }>(
    `SELECT kind, id, (count(*) OVER ())::int AS total
     FROM (
       SELECT 'reactors' AS kind, id, created_at FROM reactors
       WHERE tenant_id = $1 AND application_id = $2
       UNION ALL
       SELECT 'proxies', id, created_at FROM proxies
       WHERE tenant_id = $1 AND application_id = $2) u
     ORDER BY created_at DESC, id LIMIT $3`,
    [tenantId, id, idsShown],
  );
  const [first] = users;
  if (!first) return;
  const idsOf = (kind: string): string[] =>
    users.flatMap((user) => (user.kind === kind ? [user.id] : []));
  const named = Object.entries({ reactors: idsOf('reactors'), proxies: idsOf('proxies') });
  throw new Problem('conflict', {
    detail:
      `Reactors and proxies that use the application: ${first.total}. Give them another one first, ` +
      'or delete it with ?force=true: they stay, and what needs it gets application_gone.',
    errors: Object.fromEntries(named.filter(([, ids]) => ids.length > 0)),
  });
}
