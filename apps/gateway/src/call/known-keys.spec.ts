import { generateApiKey, generateProxyKey } from '@glovebox/access';
import { startDestination, type Destination } from '@glovebox/testing';
import { startSpecGateway, type SpecGateway } from '../spec-gateway';
import { KnownKeys, knownKeysMax } from './caller';

let gateway: SpecGateway;
let destination: Destination;

beforeAll(async () => {
  gateway = await startSpecGateway();
  destination = await startDestination();
});
afterAll(async () => {
  await destination.close();
  await gateway.close();
});

async function statusOf(apiKey: string, proxyKey: string): Promise<number> {
  const headers = { 'SVC-API-KEY': apiKey, 'SVC-PROXY-KEY': proxyKey };
  const answer = await fetch(`${gateway.url}/proxy`, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

describe('the hashes of keys', () => {
  it('are remembered for keys that were found, and grant nothing by themselves', async () => {
    const { knownKeys, keyHash } = gateway.ctx;
    const { key, revoke } = await gateway.revocable(['token:use']);
    const proxy = await gateway.changeableProxy(destination.url);
    for (const _ of [1, 2]) expect(await statusOf(key, proxy.key)).toBe(200);
    expect([key, proxy.key].map((each) => knownKeys.hashOf(each))).toEqual(
      [key, proxy.key].map((each) => keyHash(each)),
    );

    await revoke();
    expect(await statusOf(key, proxy.key)).toBe(401);
    expect(knownKeys.hashOf(key)).toBeUndefined();
    await proxy.remove();
    expect(await statusOf(key, proxy.key)).toBe(404);
    expect(knownKeys.hashOf(proxy.key)).toBeUndefined();
  });

  it('are not remembered for guessed keys', async () => {
    const [key, proxyKey] = [generateApiKey(), generateProxyKey()];
    expect(await statusOf(key, await gateway.proxy(destination.url))).toBe(401);
    expect(await statusOf(key, proxyKey)).toBe(404);
    const { knownKeys } = gateway.ctx;
    expect([knownKeys.hashOf(key), knownKeys.hashOf(proxyKey)]).toEqual([undefined, undefined]);
  });

  it('take a bounded amount of memory', () => {
    const known = new KnownKeys();
    for (let nth = 0; nth <= knownKeysMax; nth += 1) known.remember(`key ${nth}`, 'hash');
    expect(known.hashOf('key 0')).toBeUndefined();
    expect(known.hashOf(`key ${knownKeysMax}`)).toBe('hash');
  });
});
