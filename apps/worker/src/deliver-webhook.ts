import { timeOfId } from '@glovebox/database';
import type { TenantDefinition } from '@glovebox/definitions';
import { EgressUnreachable, hopHeader } from '@glovebox/egress';
import { Problem } from '@glovebox/problems';
import {
  attemptMs,
  countAttempt,
  givePlaceBack,
  openDelivery,
  recordVerdict,
  signingSecrets,
  webhookHeaders,
  type Attempt,
  type ClaimedDelivery,
  type OpenedDelivery,
  type Verdict,
} from '@glovebox/runs';
import type { WorkerContext } from './context';

type Attempted = Extract<Verdict, { readonly attempt: Attempt }>;

const retriesMax = 10;
const firstRetryMs = 9_000;
/** With so many in a row, which pause for 30 s at first and 10 min in the end, a day has passed. */
export const unsentTriesMax = 150;

/**
 * Makes one attempt to deliver a webhook. The body and its id are the same in every attempt. The
 * attempt counts once something is sent: a worker that lacks a key or a store, or that dies before,
 * uses up none.
 */
export async function deliverWebhook(ctx: WorkerContext, claimed: ClaimedDelivery): Promise<void> {
  const { delivery, tenant } = await prepare(ctx, claimed);
  if (!tenant) return conclude(ctx, claimed, { kind: 'given_up', reason: 'tenant_gone' });
  const attempts = await countAttempt(ctx.database, claimed);
  if (attempts === undefined) return ctx.metrics.fenced('deliveries');
  const verdict = await attempt(ctx, delivery, tenant, attempts);
  ctx.metrics.attempted(verdict.attempt);
  await conclude(ctx, claimed, verdict);
}

async function conclude(
  ctx: WorkerContext,
  claimed: ClaimedDelivery,
  verdict: Verdict,
): Promise<void> {
  const { database, metrics } = ctx;
  if (!(await recordVerdict(database, claimed, verdict))) return metrics.fenced('deliveries');
  if (verdict.kind === 'retry') return;
  // A webhook has the id of its run, which begins with the time of the acceptance.
  const acceptedAt = claimed.isReplay ? undefined : timeOfId(claimed.id);
  metrics.deliveryEnded(verdict, acceptedAt && Math.max(Date.now() - acceptedAt, 0));
}

/** Opens the delivery and finds its tenant. A delivery that fails here for a day is given up. */
async function prepare(
  ctx: WorkerContext,
  claimed: ClaimedDelivery,
): Promise<{ delivery: OpenedDelivery; tenant: TenantDefinition | undefined }> {
  const { tenantId } = claimed;
  try {
    const delivery = await openDelivery(ctx.sealer, claimed);
    const definitions = await ctx.definitions.follower.current();
    definitions.requireReadable('tenant', tenantId);
    return { delivery, tenant: definitions.find('tenant', tenantId, tenantId) };
  } catch (error) {
    const isNewer = error instanceof Problem && error.code === 'newer_definition';
    if (claimed.unsentTries > unsentTriesMax && !isNewer) {
      await conclude(ctx, claimed, { kind: 'given_up', reason: 'unreadable' });
    } else {
      // Another worker may have what this one lacks.
      await givePlaceBack(ctx.database, claimed);
    }
    throw error;
  }
}

async function attempt(
  ctx: WorkerContext,
  { tenantId, webhookId, callbackUrl, body }: OpenedDelivery,
  tenant: TenantDefinition,
  attempts: number,
): Promise<Attempted> {
  const now = Date.now();
  const secrets = signingSecrets(tenant, now);
  const timestamp = Math.floor(now / 1_000);
  const retriesLeft = retriesMax - (attempts - 1);
  const made = (outcome: Attempt['outcome'], more: Partial<Attempt> = {}): Attempt => ({
    at: new Date(now).toISOString(),
    ms: Date.now() - now,
    ...more,
    outcome,
  });
  try {
    const { status, headers } = await ctx.egress.post(callbackUrl, {
      owner: tenantId,
      headers: {
        ...webhookHeaders({ id: webhookId, timestamp, body }, secrets),
        [hopHeader]: ctx.hopMarker,
      },
      body,
      timeoutMs: attemptMs,
    });
    if (status >= 200 && status < 300)
      return { kind: 'delivered', attempt: made('delivered', { status }) };
    const attempt = made('rejected', { status });
    if (status === 410 || retriesLeft <= 0) return { kind: 'failed', attempt };
    const afterMs = Math.max(backOffMs(attempts), retryAfterMs(headers['retry-after'], now));
    return { kind: 'retry', attempt, afterMs };
  } catch (error) {
    const attempt = made(...unansweredBecauseOf(error));
    if (retriesLeft <= 0) return { kind: 'failed', attempt };
    return { kind: 'retry', attempt, afterMs: backOffMs(attempts) };
  }
}

/** The tenant learns why, except of what egress refused. */
function unansweredBecauseOf(error: unknown): ['timed_out' | 'unreachable', Partial<Attempt>] {
  if (!(error instanceof EgressUnreachable)) return ['unreachable', {}];
  const { code, phase, reason } = error;
  return [code === 'ETIMEDOUT' ? 'timed_out' : 'unreachable', { cause: { phase, reason } }];
}

/** 9 s, doubled with each failure, 20 % either way so that many do not come back at once. */
function backOffMs(failures: number): number {
  return firstRetryMs * 2 ** (failures - 1) * (0.8 + Math.random() * 0.4);
}

const retryAfterMaxMs = 24 * 60 * 60 * 1_000;

function retryAfterMs(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  const asked = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 0), retryAfterMaxMs) : 0;
}
