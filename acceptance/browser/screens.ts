import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, create, until, type Product } from '../product';
import { product } from './console';

/** The paths of the router, as its file has them. A new screen is shown from the day it is there. */
const router = readFileSync(join(__dirname, '../../apps/console/src/router.tsx'), 'utf8');
const routes = [...router.matchAll(/^ {2}'(\/\S*)':/gm)].map(([, route = '']) => route);

/** Ids of what the screens of one thing show. A delivery has the id of its run. */
export interface Shown {
  readonly run: string;
  readonly token: string;
  readonly reactor: string;
  readonly formula: string;
  readonly proxy: string;
  readonly application: string;
}

/** The paths of all screens. */
export async function pathsOf(shown: Shown): Promise<string[]> {
  // A list as long as what other specs call would tell nothing more.
  const calls = `/calls?proxy_id=${shown.proxy}`;
  await until(async () => (await firstId(calls)) !== '');
  await until(async () => (await read(`/runs/${shown.run}`)).status === 'failed');
  await until(async () => (await read(`/webhook-deliveries/${shown.run}`)).id === shown.run);
  const ids: Record<string, string> = {
    '/calls/$id': await firstId(calls),
    '/runs/$id': shown.run,
    '/deliveries/$id': shown.run,
    '/tokens/$id': shown.token,
    '/reactors/$id': shown.reactor,
    '/formulas/$id': shown.formula,
    '/proxies/$id': shown.proxy,
    '/applications/$id': shown.application,
  };
  return routes
    .filter((route) => route !== '/sign-in')
    .map((route) => {
      const id = ids[route];
      if (route.includes('$') && id === undefined) throw new Error(`nothing is made for ${route}`);
      return route === '/calls' ? calls : route.replace('$id', id ?? '');
    });
}

async function read(path: string): Promise<Record<string, unknown>> {
  return (await call('GET', `${product.baseUrl}${path}`, { key: product.adminKey })).body;
}

async function firstId(path: string): Promise<string> {
  const [first] = (await read(path)).data as { id: string }[];
  if (!first) throw new Error(`${path} is empty`);
  return first.id;
}

/** Makes a failed run with a webhook. Returns its id. */
export async function startRun(
  reactor: string,
  body: object,
  { baseUrl, privateKey: key }: Pick<Product, 'baseUrl' | 'privateKey'> = product,
): Promise<string> {
  const answer = await call('POST', `${baseUrl}/reactors/${reactor}/react`, { key, body });
  if (answer.status !== 202) throw new Error(`the run was not accepted: ${answer.text}`);
  return String(answer.body.async_request_id);
}

/** Sends a request through a proxy. */
export const send = (proxy: Readonly<Record<string, unknown>>, path = '') =>
  call('POST', `${product.baseUrl}/proxy${path}`, {
    key: product.privateKey,
    headers: { 'SVC-PROXY-KEY': String(proxy.key) },
    body: {},
  });

const code = `module.exports = async ({ args }) => {
  console.log('charging', args.amount, 'cents');
  return { raw: { charged: args.amount * args.rate.factor } };
};`;

/** Makes one of everything that has a screen. Returns the paths of all screens. */
export async function everyScreen(): Promise<string[]> {
  const name = 'Charge in the currency of the card';
  const bank = { name: 'Refunds at the bank', destination_url: 'http://127.0.0.1:1' };
  const shop = { name: 'shop', type: 'private', permissions: ['token:read'] };
  const card = { type: 'card_number', data: '4242424242424242' };
  const [formula, token, proxy, application] = await Promise.all([
    create(product, '/reactor-formulas', { type: 'private', name, code }),
    create(product, '/tokens', card, product.privateKey),
    create(product, '/proxies', bank),
    create(product, '/applications', shop),
  ]);
  const made = { name, configuration: {}, formula: { id: formula.id } };
  const reactor = (await create(product, '/reactors', made)).id;
  const callback_url = 'http://127.0.0.1:1/hook';
  const run = await startRun(reactor, { args: { amount: 1999 }, callback_url });
  await send(proxy);
  return pathsOf({
    ...{ run, reactor, token: token.id, formula: formula.id },
    ...{ proxy: proxy.id, application: application.id },
  });
}
