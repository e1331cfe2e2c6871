import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, create, until } from '../product';
import { product } from './console';

/** The paths of the router, as its file has them. A new screen is shown from the day it is there. */
const router = readFileSync(join(__dirname, '../../apps/console/src/router.tsx'), 'utf8');
const routes = [...router.matchAll(/^ {2}'(\/\S*)':/gm)].map(([, route = '']) => route);

const key = product.privateKey;
const newestId = async (path: string): Promise<string> => {
  const { body } = await call('GET', `${product.baseUrl}${path}`, { key: product.adminKey });
  const [first] = body.data as { id: string }[];
  if (!first) throw new Error(`${path} is empty`);
  return first.id;
};

const code = `module.exports = async ({ args }) => {
  console.log('charging', args.amount, 'cents');
  return { raw: { charged: args.amount * args.rate.factor } };
};`;

async function reactorThatThrows(): Promise<string> {
  const name = 'Charge in the currency of the card';
  const { id } = await create(product, '/reactor-formulas', { type: 'private', name, code });
  const made = { name, configuration: {}, formula: { id } };
  return (await create(product, '/reactors', made)).id;
}

/** Makes one of everything that has a screen. Returns the paths of all screens. */
export async function everyScreen(): Promise<string[]> {
  const proxy = { name: 'Refunds at the bank', destination_url: 'http://127.0.0.1:1' };
  const [reactor, token, { id: proxyId, key: proxyKey }, application] = await Promise.all([
    reactorThatThrows(),
    create(product, '/tokens', { type: 'card_number', data: '4242424242424242' }, key),
    create(product, '/proxies', proxy),
    create(product, '/applications', {
      name: 'shop',
      type: 'private',
      permissions: ['token:read'],
    }),
  ]);
  await call('POST', `${product.baseUrl}/reactors/${reactor}/react`, {
    key,
    body: { args: { amount: 1999 }, callback_url: 'http://127.0.0.1:1/hook' },
  });
  const headers = { 'SVC-PROXY-KEY': String(proxyKey) };
  await call('POST', `${product.baseUrl}/proxy`, { key, headers, body: {} });
  const calls = `/calls?proxy_id=${proxyId}`;
  await until(async () => (await newestId(calls)) !== '');
  await until(async () => (await newestId('/runs')) !== '');
  await until(async () => (await newestId('/webhook-deliveries')) !== '');
  const ids: Record<string, string> = {
    '/calls/$id': await newestId(calls),
    '/runs/$id': await newestId('/runs'),
    '/deliveries/$id': await newestId('/webhook-deliveries'),
    '/tokens/$id': token.id,
    '/reactors/$id': reactor,
    '/formulas/$id': await newestId('/reactor-formulas'),
    '/proxies/$id': proxyId,
    '/applications/$id': application.id,
  };
  return routes
    .filter((route) => route !== '/sign-in')
    .map((route) => {
      const id = ids[route];
      if (route.includes('$') && id === undefined) throw new Error(`nothing is made for ${route}`);
      // A list as long as what other specs call would tell nothing more.
      return route === '/calls' ? calls : route.replace('$id', id ?? '');
    });
}
