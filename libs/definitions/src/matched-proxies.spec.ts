import { hostPatternsOf } from '@glovebox/access';
import type { ProxyDefinition, ProxyMatch } from './definition';
import { MatchedProxies, matchKeysOf } from './matched-proxies';

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

it.each(['/v1%2fcharges', '/v1//charges', '/v1/%2e%2e/x', '/%252e/v1'])(
  'the path %s is refused where a proxy has paths, and none where it has not',
  (path) => {
    const find = storeOf(
      proxy('path', { hosts: ['a.example'], paths: ['/v1'] }),
      proxy('any', { hosts: ['b.example'] }),
    );
    expect(() => find(`https://a.example${path}`)).toThrow('more than one way');
    expect(find(`https://b.example${path}`)).toBe('any');
  },
);

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
