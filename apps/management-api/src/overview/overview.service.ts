import type { Actor } from '@glovebox/access';
import {
  callsById,
  countCalls,
  failedOutcomes,
  findCallIds,
  type CallQuery,
  type CallRow,
  type ResourceCounts,
} from '@glovebox/calls';
import type { Sql } from '@glovebox/database';
import { queueOfTenant } from '@glovebox/runs';
import { liveProcesses } from '@glovebox/stores';
import { Injectable } from '@nestjs/common';
import { Context, type ManagementContext } from '../context';
import {
  idOf,
  newestFailures,
  overviewResourcesMax,
  timeOf,
  toCountedCalls,
  toOverview,
  type CountedCalls,
  type Hours,
  type Overview,
} from './overview.dto';

/** Counting takes at most one part in so many of the time of a connection. */
const shownTimesLonger = 10;

@Injectable()
export class OverviewService {
  /** What a tenant was shown last, for a while, and what is being counted for it. */
  readonly #counted = new Map<string, { readonly calls: Promise<CountedCalls>; until: number }>();

  constructor(@Context() private readonly ctx: ManagementContext) {}

  async get({ principal: { tenantId } }: Actor, hours: Hours): Promise<Overview> {
    const { searches, definitions } = this.ctx;
    const [calls, processes, { runs, deliveries, failures }] = await Promise.all([
      this.#callsOf(tenantId, hours),
      liveProcesses(definitions.redis).catch(() => undefined),
      searches.list(tenantId, async (sql) => ({
        runs: await queueOfTenant(sql, tenantId, 'runs'),
        deliveries: await queueOfTenant(sql, tenantId, 'deliveries'),
        failures: await failuresOf(sql, tenantId),
      })),
    ]);
    return toOverview(calls, { runs, deliveries, failures, processes });
  }

  /**
   * The cost grows with the counts of the time. So what took long is shown for long, and those who
   * ask at the same moment share an answer. Counts are some seconds old in any case.
   */
  #callsOf(tenantId: string, hours: Hours): Promise<CountedCalls> {
    const now = performance.now();
    const name = `${tenantId} ${hours}`;
    const known = this.#counted.get(name);
    if (known && now < known.until) return known.calls;
    for (const [other, { until }] of this.#counted) if (until <= now) this.#counted.delete(other);
    const counting = { calls: this.#count(tenantId, hours), until: Infinity };
    this.#counted.set(name, counting);
    counting.calls.then(
      () => (counting.until = performance.now() + shownTimesLonger * (performance.now() - now)),
      () => this.#counted.delete(name),
    );
    return counting.calls;
  }

  /**
   * Each statement has a place among the searches, whose cost grows as well: lists do not wait for
   * them, and those of other tenants come between.
   */
  async #count(tenantId: string, hours: Hours): Promise<CountedCalls> {
    const time = timeOf(hours);
    const sql: Sql = {
      query: (statement, values) =>
        this.ctx.searches.search(tenantId, (one) => one.query(statement, values)),
    };
    const { resources, buckets } = await countCalls(sql, tenantId, time);
    const shown = resources.slice(0, overviewResourcesMax);
    return toCountedCalls(
      { resources: shown, buckets, isTruncated: shown.length < resources.length },
      time,
      await namesOf(sql, tenantId, shown),
    );
  }
}

async function namesOf(
  sql: Sql,
  tenantId: string,
  resources: readonly ResourceCounts[],
): Promise<Map<string, string>> {
  const ids = resources.flatMap((counts) => idOf(counts) ?? []);
  const rows = await sql.query<{ id: string; name: string }>(
    `SELECT id, name FROM proxies WHERE tenant_id = $1 AND id = ANY ($2)
     UNION ALL SELECT id, name FROM reactors WHERE tenant_id = $1 AND id = ANY ($2)`,
    [tenantId, ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

async function failuresOf(sql: Sql, tenantId: string): Promise<CallRow[]> {
  const query: CallQuery = {
    ...{ size: newestFailures, after: undefined, from: undefined, to: undefined },
    ...{ proxyId: undefined, reactorId: undefined, applicationId: undefined },
    ...{ status: undefined, code: undefined, outcomes: failedOutcomes, traceId: undefined },
  };
  const ids = (await findCallIds(sql, tenantId, query)).slice(0, newestFailures);
  return sql.query<CallRow>(`${callsById} ORDER BY id DESC`, [ids, tenantId]);
}
