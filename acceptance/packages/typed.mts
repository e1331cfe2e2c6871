// Checked by the compiler alone, in a folder that has the packed packages.
import { errors, Glovebox, type components } from '@glovebox/client';
import { verifyWebhook } from '@glovebox/client/webhooks';
import type { Reactor, RequestTransform } from '@glovebox/reactor-types';

const glovebox = new Glovebox({ url: 'https://glovebox.example', key: 'key' });
const token: components['schemas']['Token'] = await glovebox.get('/tokens/{id}', {
  params: { path: { id: 'x' } },
});
const name: string = (await glovebox.get('/tenants/self')).name;
for await (const { code } of glovebox.each('/calls', {
  params: { query: { outcome: ['failed'] } },
})) {
  const text: string | undefined = code;
  void text;
}
try {
  await glovebox.react('x', { args: {} });
} catch (error) {
  if (error instanceof errors.not_found) {
    const code: 'not_found' = error.code;
    void code;
  }
}
const { runId, error } = verifyWebhook('', {}, 'whsec_');
void [token.containers[0], name, runId, error?.traceId];

// @ts-expect-error: the id of the path is missing
await glovebox.get('/tokens/{id}');
// @ts-expect-error: there is no such path
await glovebox.get('/tokenz');
// @ts-expect-error: data has to be there
await glovebox.post('/tokens', { body: { type: 'card' } });
// @ts-expect-error: it is no list
glovebox.each('/tenants/self');

export const charge: Reactor<{ card: { number: string } }, true> = async ({ args, svc }) => {
  const { id } = await svc.tokens.create({ type: 'token', data: args.card.number });
  return { raw: { id } };
};
export const request: RequestTransform<{ amount: number }> = ({ args, svc }) => {
  // @ts-expect-error: without an application there is none
  void svc.tokens;
  return { headers: args.headers, body: { amount: args.body?.amount ?? 0 } };
};
