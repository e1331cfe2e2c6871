import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { errorOf, type GloveboxError } from './errors';
import type { ReactorResponse } from './async-run';

export { WebhookVerificationError };

/** A webhook that is genuine. */
export interface Report {
  /** The id of the run: `async_request_id`. The same in every attempt. */
  readonly runId: string;
  readonly result?: ReactorResponse;
  readonly error?: GloveboxError;
}

type Headers_ = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a webhook by the secret of the tenant, and reads it. Throws `WebhookVerificationError`.
 * `body`: as it came, before anything parsed it.
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers_,
  secret: string,
): Report {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const named = headers instanceof Headers ? Object.fromEntries(headers) : lowerCased(headers);
  const report = new Webhook(secret).verify(text, named) as ReactorResponse & { code?: unknown };
  const runId = (named['webhook-id'] ?? '').replace(/^msg_/, '');
  // A result has neither code nor status.
  const isError = typeof report.code === 'string' && 'status' in report;
  return isError ? { runId, error: errorOf(report as never) } : { runId, result: report };
}

const lowerCased = (headers: Readonly<Record<string, string | readonly string[] | undefined>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
