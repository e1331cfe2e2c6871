import type { Actor } from '@glovebox/access';
import {
  Conditions,
  countUpTo,
  findPage,
  type FoundPage,
  type Part,
  type Sql,
} from '@glovebox/database';
import { Injectable } from '@nestjs/common';
import { Context, type ManagementContext } from '../context';
import { asSql, eachInTenant, inTenant } from '../database/in-tenant';
import { Page, rowsOf } from '../lists/page';
import { queryPortion } from '../lists/portion';
import { toLogLine, type LogQuery, type LogRow } from './logs.dto';

const columns = `id, actor_id AS "actorId", operation, entity_type AS "entityType",
  entity_id AS "entityId", outcome, trace_id AS "traceId", token_ids AS "tokenIds",
  destination_host AS "destinationHost", reason, at,
  (SELECT p.name FROM people p WHERE p.id = actor_id) AS "personName",
  (SELECT a.name FROM applications a WHERE a.id = actor_id) AS "applicationName"`;

@Injectable()
export class LogsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async list({ principal: { tenantId } }: Actor, query: LogQuery): Promise<Page> {
    const { dataSource } = this.ctx;
    const { entries, pagination } = await inTenant(dataSource, tenantId, (manager) =>
      findLines(asSql(manager), tenantId, query),
    );
    const times = new Map(entries.map(({ id, at }) => [id, at]));
    const rows = rowsOf(
      [...times.keys()],
      (portion) =>
        queryPortion<LogRow>(eachInTenant(dataSource, tenantId), portion, linesByKey, {
          idType: 'bigint',
          values: [tenantId, portion.ids.map((id) => times.get(id))],
        }),
      toLogLine,
    );
    return new Page(pagination, rows);
  }
}

/** Selects the lines with these times and ids: the log is divided by time. */
export const linesByKey = `SELECT ${columns} FROM audit_log
  JOIN unnest($1::bigint[], $3::timestamptz[]) AS k (id, at) USING (id, at) WHERE tenant_id = $2`;

/** Finds a page of lines in an index. */
export function findLines(sql: Sql, tenantId: string, query: LogQuery): Promise<FoundPage> {
  return findPage(query, {
    list: { tenantId, asked: linesInOrder(tenantId, query) },
    find: ({ after, skipped, limit }) => {
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
  after?: Part['after'],
): { readonly text: string; readonly values: readonly unknown[] } {
  const where = new Conditions()
    .add('tenant_id =', tenantId)
    .add('entity_id =', query.entityId)
    .add('entity_type =', query.entityType)
    .add('operation =', query.operation)
    .add('trace_id =', query.traceId)
    .add('at >=', query.startDate)
    .add('at <=', query.endDate);
  const place = after && `(${where.parameter(after.at)}, ${where.parameter(after.id)})`;
  return {
    text: `SELECT id, at FROM audit_log WHERE ${where} ${place ? `AND (at, id) < ${place}` : ''}
      ORDER BY at DESC, id DESC`,
    values: where.values,
  };
}
