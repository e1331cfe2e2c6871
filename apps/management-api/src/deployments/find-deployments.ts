import type { CursorQuery, Sql } from '@glovebox/database';
import { Conditions } from '@glovebox/database';
import { actorIn } from '../logs/logs.dto';
import type {
  DeploymentDetails,
  DeploymentRow,
  DeploymentShown,
  ItemChange,
} from './deployments.dto';

const columns = `id, message, project, rollback_of AS "rollbackOf", changes, trace_id AS "traceId",
  created_by AS "createdBy", created_at AS "createdAt",
  (SELECT p.name FROM people p WHERE p.id = created_by) AS "personName",
  (SELECT a.name FROM applications a WHERE a.id = created_by) AS "applicationName"`;

/** A part of the list, the newest first: one more than the part has, if there is one. */
export function listDeployments(
  sql: Sql,
  tenantId: string,
  query: CursorQuery,
): Promise<DeploymentRow[]> {
  const where = new Conditions().add('tenant_id =', tenantId).addRange(query);
  return sql.query(
    `SELECT ${columns} FROM deployments WHERE ${where}
     ORDER BY id DESC LIMIT ${where.parameter(query.size + 1)}`,
    where.values,
  );
}

export async function findDeployment(
  sql: Sql,
  tenantId: string,
  id: string,
): Promise<DeploymentRow | undefined> {
  const [row] = await sql.query<DeploymentRow>(
    `SELECT ${columns} FROM deployments WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id],
  );
  return row;
}

export function toShown(row: DeploymentRow): DeploymentShown {
  const counts = { created: 0, updated: 0, unchanged: 0, pruned: 0 };
  for (const { change } of row.changes) counts[change] += 1;
  return {
    id: row.id,
    ...(row.message === null ? {} : { message: row.message }),
    ...(row.project === null ? {} : { project: row.project }),
    ...(row.rollbackOf === null ? {} : { rollback_of: row.rollbackOf }),
    counts,
    trace_id: row.traceId,
    ...(row.createdBy === null
      ? {}
      : { created_by: row.createdBy, actor: actorIn(row, row.createdBy) }),
    created_at: row.createdAt.toISOString(),
  };
}

export const toDetails = (row: DeploymentRow): DeploymentDetails => ({
  ...toShown(row),
  changes: row.changes.map(toChange),
});

const toChange = ({ kind, slug, id, change, members }: ItemChange): ItemChange => ({
  ...{ kind, slug, id, change },
  ...(members === undefined ? {} : { members }),
});
