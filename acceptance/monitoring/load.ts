import { call, create, reactorOf, type Product } from '../product';
import { startReceiver } from '../receiver';

/** Something of everything that metrics tell of. */
export interface Load {
  /** A call of each kind, a run at once, and a run later with its webhook. */
  once(): Promise<void>;
  close(): Promise<void>;
}

export async function prepareLoad(product: Product): Promise<Load> {
  const { baseUrl, adminKey, privateKey: key } = product;
  const receiver = await startReceiver();
  const name = 'monitored';
  const reactor = await reactorOf(product, 'module.exports = async () => ({ raw: 1 });');
  const proxy = await create(product, '/proxies', { name, destination_url: receiver.url });
  const react = `${baseUrl}/reactors/${reactor}/react`;
  return {
    async once() {
      await call('GET', `${baseUrl}/proxy`, { key, headers: { 'SVC-PROXY-KEY': `${proxy.key}` } });
      await call('GET', `${baseUrl}/reactors/${reactor}`, { key: adminKey });
      await call('POST', react, { key, body: {} });
      await call('POST', react, { key, body: { callback_url: `${receiver.url}/later` } });
      while ((await receiver.next()).url !== '/later');
    },
    close: () => receiver.close(),
  };
}
