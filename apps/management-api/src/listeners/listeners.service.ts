import { grantsFor, type Actor, type Principal } from '@glovebox/access';
import { record } from '@glovebox/database';
import { storeOutcome } from '@glovebox/idempotency';
import { invalid, notFound, Problem } from '@glovebox/problems';
import {
  addListener,
  endListener,
  leaseOfListenerMs,
  nextPart,
  renewListener,
  signingSecrets,
  webhookHeaders,
  webhookPlace,
  type ListenedWebhook,
  type Listener,
} from '@glovebox/runs';
import { decideShowing, type Showing } from '@glovebox/vault';
import { Injectable } from '@nestjs/common';
import type { Author } from '../changes/change';
import { Context, type ManagementContext } from '../context';
import { asSql, eachInTenant, inTenant } from '../database/in-tenant';
import { isUuid } from '../validation/uuid';
import type {
  ListenerResponse,
  ListeningQuery,
  StartListener,
  WebhookCopies,
  WebhookCopy,
} from './listeners.dto';

/** Listeners of a tenant at the same time. */
export const listenersMax = 5;

/** A webhook of a part, and whether it may be shown. */
interface Decided {
  readonly webhook: ListenedWebhook;
  readonly verdict: 'shown' | 'gone' | 'refused';
}

/** Copies of webhooks for programs without a public address. The originals go where they go. */
@Injectable()
export class ListenersService {
  constructor(@Context() private readonly ctx: ManagementContext) {}

  async start(
    { principal }: Actor,
    { tenantId, actorId, traceId, claim }: Author,
    input: StartListener,
  ): Promise<ListenerResponse> {
    requireReveal(principal);
    const reactorId = input.reactor_id?.toLowerCase();
    const definitions = await this.ctx.definitions.follower.current();
    if (reactorId !== undefined && !definitions.find('reactor', tenantId, reactorId)) {
      throw invalid({ reactor_id: ['is no reactor of the tenant'] });
    }
    return inTenant(this.ctx.dataSource, tenantId, async (manager) => {
      const sql = asSql(manager);
      const owner = { tenantId, applicationId: principal.actorId };
      const id = await addListener(sql, owner, reactorId, listenersMax);
      if (id === undefined) throw tooMany();
      const answer = {
        id,
        ...(reactorId !== undefined && { reactor_id: reactorId }),
        after: '0',
        lease_seconds: leaseOfListenerMs / 1_000,
      };
      await record(sql, {
        ...{ tenantId, actorId, traceId, outcome: 'success', entityId: id },
        ...{ operation: 'webhook_listener.create', entityType: 'webhook_listener' },
      });
      await storeOutcome(sql, this.ctx.sealer, claim, answer);
      return answer;
    });
  }

  /** Waits without a connection, and answers as soon as a webhook is there. */
  async hear(
    { actor, later }: { readonly actor: Actor; readonly later: () => Promise<Actor> },
    id: string,
    query: ListeningQuery,
    signal: AbortSignal,
  ): Promise<WebhookCopies> {
    const { after, waitMs, isRenewal } = query;
    const listener = listenerOf(actor, id);
    const waitsUntil = performance.now() + waitMs;
    let part = await this.#nextPart(actor, listener, query);
    if (part.length === 0 && !isRenewal) {
      await this.ctx.webhookNews.wait(listener.id, waitsUntil - performance.now(), signal);
      signal.throwIfAborted();
      part = await this.#nextPart(await later(), listener, query);
    }
    const [first] = part;
    if (!first) return { after: String(after), data: [] };
    const { tenantId } = listener;
    const opening = (): Promise<WebhookCopy[]> => this.#copiesOf(tenantId, part);
    const data = await this.ctx.vault.largeOpenings.hold(tenantId, opening);
    return { after: String(first.webhook.part), data };
  }

  async end(actor: Actor, id: string): Promise<void> {
    const listener = listenerOf(actor, id);
    const sql = eachInTenant(this.ctx.dataSource, listener.tenantId);
    if (!(await endListener(sql, listener))) throw notFound('listener');
  }

  /** Shows nothing unrecorded: the same statement decides and writes the lines of the audit log. */
  async #nextPart(
    { principal, traceId }: Actor,
    listener: Listener,
    { after, isRenewal }: ListeningQuery,
  ): Promise<readonly Decided[]> {
    const { tenantId } = listener;
    const definitions = await this.ctx.definitions.follower.current();
    const line = { operation: 'webhook_delivery.listen', entityType: 'webhook_delivery' };
    const showing: Showing = {
      use: { tenantId, actorId: principal.actorId, traceId, ...line },
      principalOf: (applicationId) => definitions.principal(tenantId, applicationId),
    };
    const part = await inTenant(this.ctx.dataSource, tenantId, async (manager) => {
      const sql = asSql(manager);
      if (!(await renewListener(sql, listener, after))) {
        await endListener(sql, listener);
        return undefined;
      }
      requireReveal(principal);
      if (isRenewal) return [];
      const webhooks = await nextPart(sql, listener);
      if (webhooks.length === 0) return [];
      const answers = webhooks.map(({ id, sights, body }) => ({
        ...{ entityId: id, sights, isErased: body === null },
      }));
      const verdicts = await decideShowing(sql, showing, answers);
      return webhooks.map((webhook, nth) => ({ webhook, verdict: verdicts[nth] ?? 'refused' }));
    });
    if (!part) throw notFound('listener');
    return part;
  }

  async #copiesOf(tenantId: string, part: readonly Decided[]): Promise<WebhookCopy[]> {
    const definitions = await this.ctx.definitions.follower.current();
    const tenant = definitions.find('tenant', tenantId, tenantId);
    if (!tenant) throw notFound('tenant');
    const now = Date.now();
    const secrets = signingSecrets(tenant, now);
    const copies: WebhookCopy[] = [];
    for (const { webhook, verdict } of part) {
      const { id, webhookId, reactorId, createdAt, body: sealed } = webhook;
      const copy = {
        ...{ id, webhook_id: webhookId, created_at: createdAt.toISOString() },
        ...(reactorId !== null && { reactor_id: reactorId }),
      };
      if (verdict !== 'shown' || sealed === null) {
        copies.push({ ...copy, withheld: verdict === 'shown' ? 'gone' : verdict });
        continue;
      }
      const opened = await this.ctx.sealer.open(webhookPlace(tenantId, id, 'body'), sealed);
      const body = opened.toString('utf8');
      const signed = { id: webhookId, timestamp: Math.floor(now / 1_000), body };
      copies.push({ ...copy, headers: webhookHeaders(signed, secrets), body });
    }
    return copies;
  }
}

function listenerOf({ principal: { tenantId, actorId } }: Actor, id: string): Listener {
  if (!isUuid(id)) throw notFound('listener');
  return { id: id.toLowerCase(), tenantId, applicationId: actorId };
}

/** Webhooks show data of any container: each rule down to that on `/` must reveal. */
function requireReveal(principal: Principal): void {
  const grants = grantsFor(principal, 'log:read');
  const whole = grants.findIndex(({ container }) => container === '/');
  const deciding = grants.slice(0, whole + 1);
  if (whole >= 0 && deciding.every(({ transform }) => transform === 'reveal')) return;
  throw new Problem('permission_denied', {
    detail: 'A rule on / with log:read and the transform reveal is needed: webhooks show data.',
  });
}

const tooMany = (): Problem =>
  new Problem('share_exhausted', {
    detail: `A tenant has at most ${listenersMax} listeners to webhooks at the same time.`,
    retryAfterSeconds: leaseOfListenerMs / 1_000,
  });
