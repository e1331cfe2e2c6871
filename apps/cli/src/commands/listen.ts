import { createInterface } from 'node:readline';
import { errors, type components, type Glovebox } from '@glovebox/client';
import type { Context } from '../context';
import { Failure } from '../failure';
import { findByName } from '../find-by-name';
import { Forwarding, targetOf } from '../forwarding';

type Listener = components['schemas']['WebhookListener'];
type Copy = components['schemas']['WebhookCopies']['data'][number];

interface ListenOptions {
  readonly forwardTo: string;
  readonly name?: string;
  /** False with `--no-verify`. */
  readonly verify: boolean;
  readonly allowHttp?: boolean;
}

/** So that a restart of Glovebox does not end the listening, which has a lease of 60 s. */
const retriesOfReading = 30;
const readingMs = 120_000;
/** While webhooks are posted, which may take longer than the lease. */
const renewEveryMs = 20_000;
const renewalMs = 10_000;
const goodbyeMs = 2_000;

/** Posts copies of webhooks to an address of this machine, until it is interrupted. */
export async function listen(context: Context, options: ListenOptions): Promise<void> {
  const { terminal, signal, env } = context;
  const target = targetOf(options.forwardTo, options.allowHttp);
  const api = context.api();
  const { name, verify } = options;
  const found = name === undefined ? undefined : await findByName(api, name, ['reactor']);
  const secretNow = verify ? () => secretOf(api, env.GLOVEBOX_WEBHOOK_SECRET) : undefined;
  const forwarding = new Forwarding(context, target, secretNow, await secretNow?.());
  const typed = createInterface({ input: process.stdin });
  typed.on('line', (line) => void forwarding.again(line));
  try {
    for (let isLost = true; isLost && !signal.aborted;) {
      const body = found ? { reactor_id: found.id } : {};
      const starting = api.post('/webhook-listeners', { body, retries: 0 });
      const listener = await terminal.progress('starting to listen', starting);
      terminal.say(`Listening: webhooks are copied to ${target}. Enter sends the last one again.`);
      isLost = await hear(context, listener, (copies) => forwarding.all(copies));
      if (isLost) terminal.say('The listener was lost, and webhooks may be missing.');
    }
  } finally {
    typed.close();
    process.stdin.destroy();
  }
}

/** Takes copies until the program is interrupted. True: the listener did not last as long. */
export async function hear(
  context: Context,
  listener: Pick<Listener, 'id' | 'after'>,
  take: (copies: readonly Copy[]) => Promise<void>,
  renewsEveryMs = renewEveryMs,
): Promise<boolean> {
  const { signal } = context;
  const api = context.api();
  const path = { id: listener.id };
  const limits = { retries: retriesOfReading, timeoutMs: readingMs };
  try {
    for (let { after } = listener; !signal.aborted;) {
      const params = { path, query: { after } };
      const heard = await api.get('/webhook-listeners/{id}/webhooks', { params, ...limits });
      const renewal = setInterval(() => void renew(context, listener.id, after), renewsEveryMs);
      await take(heard.data).finally(() => clearInterval(renewal));
      ({ after } = heard);
    }
  } catch (error) {
    if (error instanceof errors.not_found) return true;
    if (!signal.aborted) throw error;
  }
  await end(context, listener);
  return false;
}

/** One that fails has another after it, and then the next reading. */
async function renew(context: Context, id: string, after: string): Promise<void> {
  const params = { path: { id }, query: { after, wait: 0, copies: 'none' } } as const;
  const limits = { retries: 0, timeoutMs: renewalMs };
  await context
    .api()
    .get('/webhook-listeners/{id}/webhooks', { params, ...limits })
    .catch(() => undefined);
}

/** The interruption ends all calls but this one. A tenant has few listeners. */
async function end(context: Context, { id }: Pick<Listener, 'id'>): Promise<void> {
  const api = context.api(AbortSignal.timeout(goodbyeMs));
  await api.delete('/webhook-listeners/{id}', { params: { path: { id } } }).catch(() => undefined);
}

/** That of the tenant. A key that may not see it can be given one. */
async function secretOf(api: Glovebox, given: string | undefined): Promise<string> {
  if (given) return given;
  const { secret } = await api.get('/tenants/self/webhook-secret').catch((error: unknown) => {
    if (!(error instanceof errors.permission_denied)) throw error;
    throw new Failure(
      'refused',
      'Signatures cannot be verified: this key may not see the webhook secret of the tenant.',
      'Set GLOVEBOX_WEBHOOK_SECRET, use a key with tenant:update, or say --no-verify.',
    );
  });
  return secret;
}
