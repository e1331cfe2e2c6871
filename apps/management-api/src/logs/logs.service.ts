import type { Actor } from '@glovebox/access';
import { Injectable } from '@nestjs/common';
import { Context, type ManagementContext } from '../context';
import { asSql, inTenant } from '../database/in-tenant';
import { toPage, type Page } from '../lists/listing';
import { toLogLine, type LogLine, type LogQuery, type LogRow } from './logs.dto';

const columns = `id, actor_id AS "actorId", operation, entity_type AS "entityType",
  entity_id AS "entityId", outcome, trace_id AS "traceId", token_ids AS "tokenIds",
  destination_host AS "destinationHost", at`;

@Injectable()
export class LogsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  list({ principal: { tenantId } }: Actor, query: LogQuery): Promise<Page<LogLine>> {
    const { count, page } = logStatements(tenantId, query);
    return inTenant(this.ctx.dataSource, tenantId, async (manager) => {
      const sql = asSql(manager);
      const [{ total } = { total: 0 }] = await sql.query<{ total: number }>(
        count.text,
        count.values,
      );
      const isPast = (query.page - 1) * query.size >= total;
      const rows = isPast ? [] : await sql.query<LogRow>(page.text, page.values);
      return toPage(query, total, rows.map(toLogLine));
    });
  }
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * The statements that count and find the lines of a page. Apart from those lines, both read an
 * index alone.
 */
export function logStatements(
  tenantId: string,
  query: LogQuery,
): { count: Statement; page: Statement } {
  const filters: readonly (readonly [string, unknown])[] = [
    ['tenant_id =', tenantId],
    ['entity_id =', query.entityId],
    ['entity_type =', query.entityType],
    ['operation =', query.operation],
    ['at >=', query.startDate],
    ['at <=', query.endDate],
  ];
  const given = filters.filter(([, value]) => value !== undefined);
  const values = given.map(([, value]) => value);
  const where = given.map(([test], index) => `${test} $${index + 1}`).join(' AND ');
  const [limit, offset] = [`$${values.length + 1}`, `$${values.length + 2}`];
  return {
    count: { text: `SELECT count(*)::int AS total FROM audit_log WHERE ${where}`, values },
    page: {
      text: `SELECT ${columns} FROM (
          SELECT tenant_id, at, id FROM audit_log WHERE ${where}
          ORDER BY at DESC, id DESC LIMIT ${limit} OFFSET ${offset}
        ) shown JOIN audit_log l USING (tenant_id, at, id)
        ORDER BY at DESC, id DESC`,
      values: [...values, query.size, (query.page - 1) * query.size],
    },
  };
}
