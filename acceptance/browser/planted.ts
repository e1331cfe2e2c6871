import { call, create } from '../product';
import { product } from './console';
import { payloads } from './payloads';
import { pathsOf, send, startRun } from './screens';

const secret = (where: string): string => `planted-in-${where}`;
const named = payloads.map((payload) => payload.slice(0, 200));

/** On one line, so that a listing shows all of it beside the line that fails. */
const code = `const says = ${JSON.stringify(payloads)};
module.exports = async ({ args, configuration }) => {
  for (const line of says) console.log(line);
  console.log(configuration.PASSWORD, args.card);
  throw new Error(says.join(' '));
};`;

/** A tenant may have some requests under way at once, and no more. */
async function eachOf<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += 10) {
    results.push(...(await Promise.all(items.slice(from, from + 10).map(work))));
  }
  return results;
}

/**
 * Makes one of everything that has a screen out of text that wants to run and of secrets. Returns the
 * paths of all screens, and what none of them may show.
 */
export async function plantEverywhere(): Promise<{
  readonly paths: string[];
  readonly secrets: readonly string[];
  readonly callbackHosts: readonly number[];
}> {
  const formula = await create(product, '/reactor-formulas', {
    ...{ type: 'private', name: named[0], description: named[1], code },
    configuration: [{ name: 'PASSWORD', type: 'string', description: named[2] }],
  });
  const metadata = Object.fromEntries(named.map((text, at) => [text.slice(0, 100), named[at]]));
  const data = { type: 'token', data: secret('the-vault'), metadata };
  const token = await create(product, '/tokens', data, product.privateKey);
  const options = { location: 'header', name: 'x', value: secret('a-step') };
  const [proxy, ...proxies] = await eachOf(named, (name) =>
    create(product, '/proxies', {
      ...{ name, destination_url: 'http://127.0.0.1:1' },
      request_transforms: [{ type: 'append', options }],
    }),
  );
  const [application, ...applications] = await eachOf(named, (name) =>
    create(product, '/applications', { name, type: 'private', permissions: ['token:read'] }),
  );
  const configuration = { PASSWORD: secret('the-configuration') };
  const [reactor] = await eachOf(named, (name) =>
    create(product, '/reactors', { name, configuration, formula: { id: formula.id } }),
  );
  if (!reactor || !proxy || !application) throw new Error('nothing was made');
  await eachOf(named, (name) => send(proxy, `/${encodeURIComponent(name)}`));
  const run = await startRun(reactor.id, {
    args: { card: `{{${token.id}}}`, other: secret('the-arguments') },
    callback_url: `http://127.0.0.1:1/${encodeURIComponent(named[0] ?? '')}`,
  });
  const react = `${product.baseUrl}/reactors/${reactor.id}/react`;
  const callbackHosts = await eachOf(payloads, async (payload) => {
    const body = { callback_url: `http://${payload}.invalid/` };
    return (await call('POST', react, { key: product.privateKey, body })).status;
  });
  return {
    callbackHosts,
    paths: await pathsOf({
      ...{ run, reactor: reactor.id, token: token.id, formula: formula.id },
      ...{ proxy: proxy.id, application: application.id },
    }),
    secrets: [
      ...['planted-in-', product.adminKey, product.privateKey],
      ...[proxy, ...proxies, application, ...applications].map(({ key }) => String(key)),
    ],
  };
}
