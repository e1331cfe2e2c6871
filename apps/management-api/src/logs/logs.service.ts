import type { Actor } from '@glovebox/access';
import { Injectable } from '@nestjs/common';
import { Context, type ManagementContext } from '../context';
import { asSql, eachInTenant, inTenant } from '../database/in-tenant';
import { toPage } from '../lists/listing';
import { rowsOf, type Page } from '../lists/page';
import { queryPortion } from '../lists/portion';
import { toLogLine, type LogQuery, type LogRow } from './logs.dto';

const columns = `id, actor_id AS "actorId", operation, entity_type AS "entityType",
  entity_id AS "entityId", outcome, trace_id AS "traceId", token_ids AS "tokenIds",
  destination_host AS "destinationHost", at`;

@Injectable()
export class LogsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async list({ principal: { tenantId } }: Actor, query: LogQuery): Promise<Page> {
    const { dataSource } = this.ctx;
    const { count, page } = logStatements(tenantId, query);
    const { total, keys } = await inTenant(dataSource, tenantId, async (manager) => {
      const sql = asSql(manager);
      const [{ total } = { total: 0 }] = await sql.query<{ total: number }>(
        count.text,
        count.values,
      );
      const isPast = (query.page - 1) * query.size >= total;
      return { total, keys: isPast ? [] : await sql.query<LogKey>(page.text, page.values) };
    });
    const times = new Map(keys.map(({ id, at }) => [id, at]));
    const rows = rowsOf(
      [...times.keys()],
      (portion) =>
        queryPortion<LogRow>(eachInTenant(dataSource, tenantId), portion, linesByKey, {
          idType: 'bigint',
          values: [tenantId, portion.ids.map((id) => times.get(id))],
        }),
      toLogLine,
    );
    return toPage(query, total, rows);
  }
}

/** The log is divided by time: a line is found by its time and id. */
interface LogKey {
  readonly id: string;
  readonly at: Date;
}

/** Selects the lines with these keys. */
export const linesByKey = `SELECT ${columns} FROM audit_log
  JOIN unnest($1::bigint[], $3::timestamptz[]) AS k (id, at) USING (id, at) WHERE tenant_id = $2`;

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * The statements that count the lines and find the keys of a page. Both read an index alone.
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
      text: `SELECT id, at FROM audit_log WHERE ${where}
        ORDER BY at DESC, id DESC LIMIT ${limit} OFFSET ${offset}`,
      values: [...values, query.size, (query.page - 1) * query.size],
    },
  };
}
