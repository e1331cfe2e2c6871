import { randomBytes } from 'node:crypto';
import type { Place, Sealer } from '@glovebox/seal';
import type { Tenant } from '../entities/tenant.entity';

/** `whsec_…`. Lists of secrets begin with the newest; a rotated one also signs until `until`. */
export interface WebhookSecret {
  readonly secret: string;
  readonly until: string | null;
}

const overlapMs = 24 * 60 * 60_000;

export function newWebhookSecret(): WebhookSecret {
  return { secret: `whsec_${randomBytes(32).toString('base64')}`, until: null };
}

/** Puts a new secret first. The replaced one also signs for a day; older ones are dropped. */
export function rotatedSecrets([newest]: readonly WebhookSecret[]): [
  WebhookSecret,
  ...WebhookSecret[],
] {
  const until = new Date(Date.now() + overlapMs).toISOString();
  return [newWebhookSecret(), ...(newest ? [{ ...newest, until }] : [])];
}

export function sealWebhookSecrets(
  sealer: Sealer,
  tenantId: string,
  secrets: readonly WebhookSecret[],
): Promise<Buffer> {
  return sealer.seal(placeOf(tenantId), JSON.stringify(secrets));
}

export async function openWebhookSecrets(
  sealer: Sealer,
  { id, webhookSecrets }: Pick<Tenant, 'id' | 'webhookSecrets'>,
): Promise<WebhookSecret[]> {
  const text = await sealer.open(placeOf(id), webhookSecrets);
  return JSON.parse(text.toString('utf8')) as WebhookSecret[];
}

function placeOf(tenantId: string): Place {
  return { table: 'tenants', column: 'webhook_secrets', tenantId, record: tenantId };
}
