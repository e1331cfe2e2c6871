import { isIPv6 } from 'node:net';
import type { Actor } from '@glovebox/access';
import { Injectable } from '@nestjs/common';
import type { Sql } from '@glovebox/database';
import { storeOutcome } from '@glovebox/idempotency';
import { invalid, notFound, Problem } from '@glovebox/problems';
import {
  countWaiting,
  deliveriesById,
  endedDeliveries,
  findDelivery,
  findDeliveryIds,
  receiverOf,
  replayableDeliveries,
  requeue,
  requeueable,
  sendNow,
  webhookPlace,
  type DeliveryRow,
} from '@glovebox/runs';
import { decideShowing, type Showing } from '@glovebox/vault';
import type { Author } from '../changes/change';
import { Context, type ManagementContext } from '../context';
import { asSql, eachInTenant, inTenant } from '../database/in-tenant';
import { toCursorPage } from '../lists/cursor';
import { rowsOf, type Page, type Portion } from '../lists/page';
import { queryPortion } from '../lists/portion';
import { isUuid } from '../validation/uuid';
import {
  replayedMax,
  toDeliveryResponse,
  type DeliveryQuery,
  type DeliveryResponse,
  type ReplayCount,
  type ReplayDeliveries,
  type ReplayResponse,
} from './deliveries.dto';

type SentAgain = Pick<ReplayResponse, 'queued' | 'gone'>;

/** Webhooks that are decided in one statement: each may show a thousand tokens. */
const decidedAtOnce = 20;

@Injectable()
export class DeliveriesService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async list(actor: Actor, query: DeliveryQuery): Promise<Page> {
    const { tenantId } = actor.principal;
    const receiver = await this.#receiverOf(tenantId, query.host);
    const { searches } = this.ctx;
    const ids = await searches.list(tenantId, (sql) =>
      findDeliveryIds(sql, tenantId, { ...query, receiver }, query.size),
    );
    const read = (portion: Portion): Promise<DeliveryRow[]> =>
      searches.list(tenantId, (sql) =>
        queryPortion(sql, portion, deliveriesById, { idType: 'uuid', values: [tenantId] }),
      );
    return toCursorPage(query, ids, (shown) =>
      rowsOf(shown, read, (row) => this.#show(tenantId, row)),
    );
  }

  async get({ principal: { tenantId } }: Actor, deliveryId: string): Promise<DeliveryResponse> {
    const sql = eachInTenant(this.ctx.dataSource, tenantId);
    return this.#show(tenantId, await found(sql, tenantId, deliveryId));
  }

  /**
   * Sends an ended webhook again, and one that waits for its next attempt now. One under way, or
   * without a body, is a conflict.
   */
  replay(author: Author, deliveryId: string): Promise<ReplayResponse> {
    return this.#replay(author, async (sql, free) => {
      const { id, status } = await found(sql, author.tenantId, deliveryId);
      const [delivery] = await replayableDeliveries(sql, author.tenantId, [id]);
      if (status === 'held') throw conflict('The webhook is held by the operator.');
      if (!delivery) throw conflict('The body of the webhook has been erased.');
      const isWaiting = status === 'pending';
      const { queued, gone } = isWaiting
        ? await this.#sendAgain(author, sql, [id], sendNow)
        : await this.#sendAgain(author, sql, [id].slice(0, free), requeue);
      // A worker sends it, or another replay has taken it since.
      if (queued + gone === 0 && (isWaiting || free > 0)) {
        throw conflict('The webhook is under way.');
      }
      return { matched: 1, queued, gone };
    });
  }

  /** Sends the newest of the ended webhooks that match again, except those without a body. */
  replayAll(author: Author, input: ReplayDeliveries): Promise<ReplayResponse> {
    return this.#replayMatching(author, input, (sql, ids) =>
      this.#sendAgain(author, sql, ids, requeue),
    );
  }

  /** Decides as a replay does, and takes the records of it back: no data is used. */
  async countReplayed(author: Author, input: ReplayDeliveries): Promise<ReplayCount> {
    const { queued } = await this.#replayMatching(
      { ...author, claim: undefined },
      input,
      async (sql, ids) => {
        await sql.query('SAVEPOINT before_replay');
        const counted = await this.#sendAgain(author, sql, ids, requeueable);
        await sql.query('ROLLBACK TO SAVEPOINT before_replay');
        return counted;
      },
    );
    return { count: queued };
  }

  async #replayMatching(
    author: Author,
    { filter, limit = replayedMax }: ReplayDeliveries,
    sendAgain: (sql: Sql, ids: readonly string[]) => Promise<SentAgain>,
  ): Promise<ReplayResponse> {
    const { tenantId } = author;
    const { status, reactor_id: reactorId, from, to } = filter;
    const selection = {
      status,
      reactorId: reactorId?.toLowerCase(),
      receiver: await this.#receiverOf(tenantId, filter.host, 'filter.host'),
      from: from === undefined ? undefined : new Date(from),
      to: to === undefined ? undefined : new Date(to),
    };
    return this.#replay(author, async (sql, free) => {
      const ids = await endedDeliveries(sql, tenantId, selection, limit);
      return { matched: ids.length, ...(await sendAgain(sql, ids.slice(0, free))) };
    });
  }

  /**
   * A replay by hand uses the data anew, as whoever opened it. Webhooks whose data could not be
   * opened now are left out.
   */
  async #sendAgain(
    { tenantId, actorId, traceId }: Author,
    sql: Sql,
    ids: readonly string[],
    makeDue: typeof requeue,
  ): Promise<SentAgain> {
    const definitions = await this.ctx.definitions.follower.current();
    const line = { operation: 'webhook_delivery.replay', entityType: 'webhook_delivery' };
    const showing: Showing = {
      use: { tenantId, actorId, traceId, ...line },
      principalOf: (applicationId) => definitions.principal(tenantId, applicationId),
    };
    const replay = { queued: 0, gone: 0 };
    for (let at = 0; at < ids.length; at += decidedAtOnce) {
      const part = await replayableDeliveries(sql, tenantId, ids.slice(at, at + decidedAtOnce));
      const answers = part.map(({ id, ...answer }) => ({ ...answer, entityId: id }));
      const verdicts = await decideShowing(sql, showing, answers);
      const shown = part.filter((_, n) => verdicts[n] === 'shown').map(({ id }) => id);
      replay.gone += part.length - shown.length;
      replay.queued += (await makeDue(sql, tenantId, shown)).length;
    }
    return replay;
  }

  /** Replayed webhooks wait like any other: a tenant may have only so many. */
  #replay(
    author: Author,
    work: (sql: Sql, free: number) => Promise<ReplayResponse>,
  ): Promise<ReplayResponse> {
    const { tenantId, claim } = author;
    const waitingMax = this.ctx.config.RUNS_PENDING_MAX;
    return inTenant(this.ctx.dataSource, tenantId, async (manager) => {
      const sql = asSql(manager);
      const free = waitingMax - (await countWaiting(sql, tenantId, waitingMax));
      const answer = await work(sql, Math.max(free, 0));
      if (free <= 0 && answer.queued + answer.gone < answer.matched) {
        throw new Problem('share_exhausted', {
          detail: 'Too many runs and webhooks of this tenant are waiting.',
          retryAfterSeconds: 1,
        });
      }
      await storeOutcome(sql, this.ctx.sealer, claim, answer);
      return answer;
    });
  }

  async #show(tenantId: string, row: DeliveryRow): Promise<DeliveryResponse> {
    const place = webhookPlace(tenantId, row.id, 'callback_url');
    const url = await this.ctx.sealer.open(place, row.callbackUrl);
    return toDeliveryResponse(row, new URL(url.toString('utf8')).hostname);
  }

  async #receiverOf(
    tenantId: string,
    host: string | undefined,
    member = 'host',
  ): Promise<string | undefined> {
    if (host === undefined) return undefined;
    const hostname = hostnameOf(host);
    if (hostname !== undefined) return receiverOf(this.ctx.sealer, tenantId, hostname);
    throw invalid({ [member]: ['must be a host name or an address, without a port'] });
  }
}

async function found(sql: Sql, tenantId: string, id: string): Promise<DeliveryRow> {
  const row = isUuid(id) ? await findDelivery(sql, tenantId, id.toLowerCase()) : undefined;
  if (!row) throw notFound('webhook delivery');
  return row;
}

const conflict = (detail: string): Problem => new Problem('conflict', { detail });

const withoutPort = /^(?:\[[\da-f:.]+\]|[^\s/?#@\\:[\]]+)$/i;

/** The host as a URL has it: in lower case, a name in its ASCII form, IPv6 in brackets. */
function hostnameOf(host: string): string | undefined {
  const written = isIPv6(host) ? `[${host}]` : host;
  if (!withoutPort.test(written) || !URL.canParse(`http://${written}`)) return undefined;
  return new URL(`http://${written}`).hostname;
}
