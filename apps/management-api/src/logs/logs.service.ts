import type { Actor } from '@glovebox/access';
import { countUpTo, findPage, type FoundPage, type PageQuery, type Sql } from '@glovebox/database';
import { Injectable } from '@nestjs/common';
import { Context, type ManagementContext } from '../context';
import { asSql, inTenant } from '../database/in-tenant';
import { Conditions } from '../lists/cursor';
import type { Page } from '../lists/listing';
import { toLogLine, type LogLine, type LogQuery, type LogRow } from './logs.dto';

const columns = `id, actor_id AS "actorId", operation, entity_type AS "entityType",
  entity_id AS "entityId", outcome, trace_id AS "traceId", token_ids AS "tokenIds",
  destination_host AS "destinationHost", at`;

@Injectable()
export class LogsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  list({ principal: { tenantId } }: Actor, query: LogQuery): Promise<Page<LogLine>> {
    return inTenant(this.ctx.dataSource, tenantId, async (manager) => {
      const sql = asSql(manager);
      const { entries, pagination } = await findLines(sql, tenantId, query);
      const rows = await sql.query<LogRow>(
        `SELECT ${columns} FROM audit_log
         JOIN unnest($2::timestamptz[], $3::bigint[]) AS shown (at, id) USING (at, id)
         WHERE tenant_id = $1 ORDER BY at DESC, id DESC`,
        [tenantId, entries.map(({ at }) => at), entries.map(({ id }) => id)],
      );
      return { pagination, data: rows.map(toLogLine) };
    });
  }
}

/** Finds a page of lines in an index. */
export function findLines(sql: Sql, tenantId: string, query: LogQuery): Promise<FoundPage> {
  const { after } = query;
  return findPage(query, {
    find: (limit, skipped) => {
      const { text, values } = linesInOrder(tenantId, query, after);
      return sql.query(`${text} LIMIT ${limit} OFFSET ${skipped}`, values);
    },
    count: () => {
      const { text, values } = linesInOrder(tenantId, query);
      return countUpTo(sql, text, values);
    },
  });
}

function linesInOrder(
  tenantId: string,
  query: LogQuery,
  after?: PageQuery['after'],
): { readonly text: string; readonly values: readonly unknown[] } {
  const where = new Conditions()
    .add('tenant_id =', tenantId)
    .add('entity_id =', query.entityId)
    .add('entity_type =', query.entityType)
    .add('operation =', query.operation)
    .add('at >=', query.startDate)
    .add('at <=', query.endDate);
  const place = after && `(${where.parameter(after.at)}, ${where.parameter(after.id)})`;
  return {
    text: `SELECT id, at FROM audit_log WHERE ${where} ${place ? `AND (at, id) < ${place}` : ''}
      ORDER BY at DESC, id DESC`,
    values: where.values,
  };
}
