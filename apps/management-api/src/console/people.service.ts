import type { Actor } from '@glovebox/access';
import { Conditions, record, type Sql } from '@glovebox/database';
import { notFound } from '@glovebox/problems';
import { Injectable } from '@nestjs/common';
import { Context, type ManagementContext } from '../context';
import { asSql, inTenant } from '../database/in-tenant';
import { toCursorPage } from '../lists/cursor';
import { rowsOf, type Page, type Portion } from '../lists/page';
import { queryPortion } from '../lists/portion';
import { requireId } from '../runs/runs.service';
import { toLiveSession, type LiveSessionRow, type SessionQuery } from './people.dto';
import { isLive } from './sessions';

const sessionsById = `SELECT s.id, s.created_at AS "createdAt", s.seen_at AS "seenAt",
    s.machine, p.id AS "personId", p.name, p.role, p.issuer, p.subject
  FROM console_sessions s JOIN people p ON p.id = s.person_id
  WHERE s.tenant_id = $2 AND s.id = ANY ($1)`;

@Injectable()
export class PeopleService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async sessions({ principal: { tenantId } }: Actor, query: SessionQuery): Promise<Page> {
    const { searches } = this.ctx;
    const where = new Conditions()
      .add('tenant_id =', tenantId)
      .add('person_id =', query.personId)
      .addTest(isLive)
      .addRange(query);
    const limit = where.parameter(query.size + 1);
    const rows = await searches.list(tenantId, (sql) =>
      sql.query<{ id: string }>(
        `SELECT id FROM console_sessions WHERE ${where} ORDER BY id DESC LIMIT ${limit}`,
        where.values,
      ),
    );
    const read = (portion: Portion): Promise<LiveSessionRow[]> =>
      searches.list(tenantId, (sql) =>
        queryPortion(sql, portion, sessionsById, { idType: 'uuid', values: [tenantId] }),
      );
    const ids = rows.map(({ id }) => id);
    return toCursorPage(query, ids, (shown) => rowsOf(shown, read, toLiveSession));
  }

  endSession(actor: Actor, sessionId: string): Promise<void> {
    const id = requireId(sessionId, 'session');
    return this.#end(actor, async (sql) => {
      const [ended] = await sql.query<{ personId: string }>(
        `DELETE FROM console_sessions WHERE id = $1 AND ${isLive}
         RETURNING person_id AS "personId"`,
        [id],
      );
      if (!ended) throw notFound('session');
      return ended.personId;
    });
  }

  /** Ends sign-ins that are under way as well. The role stays: the person may sign in again. */
  endSessionsOf(actor: Actor, personId: string): Promise<void> {
    const id = requireId(personId, 'person');
    return this.#end(actor, async (sql) => {
      await sql.query('DELETE FROM console_codes WHERE person_id = $1', [id]);
      const person = 'SELECT 1 FROM people WHERE id = $1 FOR NO KEY UPDATE';
      const [found] = await sql.query(person, [id]);
      if (!found) throw notFound('person');
      // After the person, whom everybody locks who confirms a machine or takes its session.
      await sql.query('DELETE FROM console_machines WHERE person_id = $1', [id]);
      await sql.query('DELETE FROM console_sessions WHERE person_id = $1', [id]);
      return id;
    });
  }

  /** The work returns whose sessions it has ended. */
  #end({ principal, traceId }: Actor, work: (sql: Sql) => Promise<string>): Promise<void> {
    const { tenantId, actorId } = principal;
    return inTenant(this.ctx.dataSource, tenantId, async (manager) => {
      const sql = asSql(manager);
      await record(sql, {
        ...{ tenantId, actorId, traceId, outcome: 'success' },
        ...{ operation: 'console.end_sessions', entityType: 'person', entityId: await work(sql) },
      });
    });
  }
}
