import { createHmac } from 'node:crypto';
import type { Place, Sealer } from '@glovebox/seal';

/** The place that a sealed column of a webhook is bound to, while it waits and in the log. */
export const webhookPlace = (
  tenantId: string,
  record: string,
  column: 'body' | 'callback_url',
): Place => ({ table: 'webhook_deliveries', column, tenantId, record });

/**
 * Tells the receivers of a tenant apart, and tells nothing more: the keyed hash of the host. It is
 * text, so that a search for webhooks to a receiver opens none.
 */
export const receiverOf = (sealer: Sealer, tenantId: string, host: string): Promise<string> =>
  hashOf(sealer, `${tenantId} ${host}`);

/** Tells the paths of receivers apart: the keyed hash of scheme, host, port and path. */
export const receiverPathOf = (sealer: Sealer, tenantId: string, url: URL): Promise<string> =>
  hashOf(sealer, `${tenantId} ${url.origin}${url.pathname}`);

async function hashOf(sealer: Sealer, text: string): Promise<string> {
  const key = await sealer.lastingKey('receivers');
  return createHmac('sha256', key).update(text).digest('base64url');
}
