import { hostPatternsOf, segmentsOf } from '@glovebox/access';
import { fastest, fractionsFrom, testSeed } from '@glovebox/testing';
import type { ProxyDefinition, ProxyMatch } from './definition';
import { MatchedProxies, matchKeysOf, type ForwardedRequest } from './matched-proxies';

const proxy = (id: string, match: Partial<ProxyMatch>, tenantId = 't') =>
  ({
    id,
    tenantId,
    match: { hosts: [], methods: [], paths: [], ...match },
  }) as unknown as ProxyDefinition;

function storeOf(...proxies: readonly ProxyDefinition[]) {
  const store = new MatchedProxies();
  for (const one of proxies) store.add(one);
  return (url: string, method = 'GET', tenantId = 't') => {
    const [, origin = '', path = ''] = /^(https?:\/\/[^/]+)(.*)$/.exec(url) ?? [];
    return store.find(tenantId, { hostPatterns: hostPatternsOf(origin), method, path })?.id;
  };
}

it('the most specific host wins, then the longest path, then a named method', () => {
  const find = storeOf(
    proxy('wide', { hosts: ['*.example'] }),
    proxy('wild', { hosts: ['*.api.example'], paths: ['/v1/deep/path'] }),
    proxy('exact', { hosts: ['a.api.example'] }),
    proxy('path', { hosts: ['a.api.example'], paths: ['/v1'] }),
    proxy('longer', { hosts: ['a.api.example'], paths: ['/v1/charges'] }),
    proxy('method', { hosts: ['a.api.example'], paths: ['/v1'], methods: ['POST'] }),
    proxy('port', { hosts: ['a.api.example:8443'] }),
    proxy('plain', { hosts: ['http://a.api.example'] }),
  );
  expect(find('https://a.api.example/')).toBe('exact');
  expect(find('https://a.api.example/v1')).toBe('path');
  expect(find('https://a.api.example/v1', 'POST')).toBe('method');
  expect(find('https://a.api.example/v1/charges/7', 'POST')).toBe('longer');
  expect(find('https://a.api.example/v1chargesx')).toBe('exact');
  expect(find('https://a.api.example/v%31/x')).toBe('path');
  expect(find('https://b.api.example/v1/deep/path')).toBe('wild');
  expect(find('https://b.api.example/v1')).toBe('wide');
  expect(find('https://api.example/v1/deep/path')).toBe('wide');
  expect(find('https://a.api.example:8443/v1')).toBe('port');
  expect(find('http://a.api.example/v1')).toBe('plain');
  expect(find('https://example/')).toBeUndefined();
  expect(find('https://a.api.example/', 'GET', 'other')).toBeUndefined();
});

it.each([
  ...['/v1%2fcharges', '/v1//charges', '/v1/%2e%2e/x', '/%252e/v1'],
  ...['/v1;x/charges', '/v1/charges;', '/v1%3bx', '/v1%25253Bx'],
])('the path %s is refused where a proxy has paths, and none where it has not', (path) => {
  const find = storeOf(
    proxy('path', { hosts: ['a.example'], paths: ['/v1'] }),
    proxy('any', { hosts: ['b.example'] }),
  );
  expect(() => find(`https://a.example${path}`)).toThrow('more than one way');
  expect(find(`https://b.example${path}`)).toBe('any');
});

it('what is removed matches nothing more, and leaves others', () => {
  const store = new MatchedProxies();
  const [one, two] = [
    proxy('1', { hosts: ['a.example'] }),
    proxy('2', { hosts: ['a.example'], paths: ['/x'] }),
  ];
  store.add(one);
  store.add(two);
  store.remove(two);
  const request = { hostPatterns: ['a.example'], method: 'GET', path: '/x' };
  expect(store.find('t', request)?.id).toBe('1');
  store.remove(one);
  expect(store.find('t', request)).toBeUndefined();
  expect(store.knows('t', ['a.example'])).toBe(false);
});

it('two matches share a name where neither is more specific for some request', () => {
  const names = (match: Partial<ProxyMatch>) =>
    matchKeysOf({ hosts: ['a.example'], methods: [], paths: [], ...match });
  expect(names({})).toEqual(['* a.example']);
  expect(names({ methods: ['GET', 'POST'], paths: ['/v1', '/'] })).toEqual([
    'GET a.example/v1',
    'POST a.example/v1',
    'GET a.example',
    'POST a.example',
  ]);
});

/** The rule of docs/adr/0146 in the plainest way: all that fit, sorted. */
function foundPlainly(
  proxies: readonly ProxyDefinition[],
  { hostPatterns, method, path }: ForwardedRequest,
): string | undefined {
  const segments = segmentsOf(path) ?? [];
  const fitting = proxies.flatMap(({ id, match }) => {
    if (!match) return [];
    const paths = match.paths.length > 0 ? match.paths : ['/'];
    return match.hosts.flatMap((host) =>
      paths.flatMap((text) => {
        const own = segmentsOf(text) ?? [];
        const isBeginning = own.every((segment, at) => segment === segments[at]);
        const isNamed = match.methods.includes(method);
        if (!hostPatterns.includes(host) || !isBeginning) return [];
        if (match.methods.length > 0 && !isNamed) return [];
        return [{ id, host: hostPatterns.indexOf(host), length: own.length, isNamed }];
      }),
    );
  });
  const [first] = fitting.sort(
    (a, b) =>
      a.host - b.host ||
      b.length - a.length ||
      Number(b.isNamed) - Number(a.isNamed) ||
      (a.id < b.id ? -1 : 1),
  );
  return first?.id;
}

it('finds of random matches what the rule of specificity says, while they come and go', () => {
  const seed = testSeed();
  const random = fractionsFrom(seed);
  const pick = <Item>(list: readonly Item[]): Item =>
    list[Math.floor(random() * list.length)] as Item;
  const some = <Item>(list: readonly Item[]): Item[] => list.filter(() => random() < 0.3);
  const hosts = ['a.b.example', '*.b.example', '*.example', 'c.example', 'http://c.example'];
  const paths = ['/', '/x', '/x/y', '/x/y/z', '/y', '/y/x', '/%7E', '/x/~'];
  const methods = ['GET', 'POST', 'PUT'];
  const origins = ['https://a.b.example', 'https://d.b.example', 'http://c.example'];
  const store = new MatchedProxies();
  const held = new Map<string, ProxyDefinition>();
  const answers = new Set<string | undefined>();
  for (let round = 0; round < 3_000; round += 1) {
    const id = String(Math.floor(random() * 30));
    const before = held.get(id);
    if (before) store.remove(before);
    held.delete(id);
    if (!before || random() < 0.5) {
      const match = { hosts: some(hosts), methods: some(methods), paths: some(paths) };
      const added = proxy(id, match);
      store.add(added);
      held.set(id, added);
    }
    const request = {
      hostPatterns: hostPatternsOf(pick(origins)),
      method: pick(methods),
      path: pick([...paths, '/x/y/', '/xx', '/~/y', '/x/y/z/~']),
    };
    const found = store.find('t', request)?.id;
    answers.add(found);
    const expected = foundPlainly([...held.values()], request);
    expect({ seed, request, found }).toEqual({ seed, request, found: expected });
  }
  expect(answers.size).toBeGreaterThan(10);
  for (const one of held.values()) store.remove(one);
  for (const host of hosts) expect(store.knows('t', [host])).toBe(false);
});

describe('with 3,000 proxies of one host, of 20 paths and 7 methods each,', () => {
  const count = 3_000;
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
  const proxies = Array.from({ length: count }, (_, n) => {
    const paths = Array.from({ length: 20 }, (_none, at) => `/v1/${n}/${at}`);
    return proxy(String(n), { hosts: ['a.example'], methods, paths });
  });
  const built = (): MatchedProxies => {
    const store = new MatchedProxies();
    for (const one of proxies) store.add(one);
    return store;
  };
  const timed = (work: () => void): number => {
    const at = performance.now();
    work();
    return performance.now() - at;
  };

  it('all are added within two seconds', async () => {
    expect(await fastest(2_000, () => timed(built))).toBeLessThan(2_000);
  });

  it('a thousand are found or not found within 50 ms, and a hundred are changed within 100 ms', async () => {
    const store = built();
    const ask = (path: string) =>
      store.find('t', { hostPatterns: ['a.example'], method: 'GET', path })?.id;
    const found: unknown[] = [];
    const findMs = (): number =>
      timed(() => {
        for (let n = 0; n < 500; n += 1) {
          found.push(ask(`/v1/${count - 1 - n}/19/rest`), ask(`/v2/${n}`));
        }
      });
    expect(await fastest(50, findMs)).toBeLessThan(50);
    expect(found.slice(0, 4)).toEqual(['2999', undefined, '2998', undefined]);
    const changeMs = (): number =>
      timed(() => {
        for (const one of proxies.slice(0, 100)) {
          store.remove(one);
          store.add(one);
        }
      });
    expect(await fastest(100, changeMs)).toBeLessThan(100);
  });
});
