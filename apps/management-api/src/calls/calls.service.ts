import type { Actor } from '@glovebox/access';
import {
  callsById,
  findCall,
  findCallIds,
  findSummary,
  type CallQuery,
  type CallRow,
  type SummaryQuery,
} from '@glovebox/calls';
import { Problem } from '@glovebox/problems';
import { Injectable } from '@nestjs/common';
import { Context, type ManagementContext } from '../context';
import { eachInTenant } from '../database/in-tenant';
import { toCursorPage } from '../lists/cursor';
import { rowsOf, type Page, type Portion } from '../lists/page';
import { queryPortion } from '../lists/portion';
import { isUuid } from '../validation/uuid';
import {
  toCallResponse,
  toSummaryResponse,
  type CallResponse,
  type CallSummaryResponse,
} from './calls.dto';

/** Entries of a summary. */
export const summaryEntriesMax = 5_000;

@Injectable()
export class CallsService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async list({ principal: { tenantId } }: Actor, query: CallQuery): Promise<Page> {
    const { searches } = this.ctx;
    const ids = await searches.list(tenantId, (sql) => findCallIds(sql, tenantId, query));
    const read = (portion: Portion): Promise<CallRow[]> =>
      searches.list(tenantId, (sql) =>
        queryPortion(sql, portion, callsById, { idType: 'uuid', values: [tenantId] }),
      );
    return toCursorPage(query, ids, (shown) => rowsOf(shown, read, toCallResponse));
  }

  async get({ principal: { tenantId } }: Actor, id: string): Promise<CallResponse> {
    if (!isUuid(id)) throw new Problem('not_found');
    const sql = eachInTenant(this.ctx.dataSource, tenantId);
    const row = await findCall(sql, tenantId, id.toLowerCase());
    if (!row) throw new Problem('not_found');
    return toCallResponse(row);
  }

  async summary(
    { principal: { tenantId } }: Actor,
    query: SummaryQuery,
  ): Promise<CallSummaryResponse> {
    const rows = await this.ctx.searches.list(tenantId, (sql) =>
      findSummary(sql, tenantId, query, summaryEntriesMax + 1),
    );
    return toSummaryResponse(rows, query, summaryEntriesMax);
  }
}
