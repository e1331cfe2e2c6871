import { createHmac } from 'node:crypto';

interface TenantSecrets {
  readonly webhookSecrets: readonly { readonly secret: string; readonly until: string | null }[];
}

interface SignedWebhook {
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
}

/** The secrets of the tenant that sign now, the newest first. */
export const signingSecrets = ({ webhookSecrets }: TenantSecrets, now: number): readonly string[] =>
  webhookSecrets
    .filter(({ until }) => until === null || Date.parse(until) > now)
    .map(({ secret }) => secret);

/** Headers of Standard Webhooks: one signature for each valid secret, the newest first. */
export function webhookHeaders(
  { id, timestamp, body }: SignedWebhook,
  secrets: readonly string[],
): Record<string, string> {
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
