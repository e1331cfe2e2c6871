import { forbiddenHosts } from '@glovebox/testing';
import { createEgress, EgressRefused } from './index';
import { OwnServices } from './own-services';
import { parseEgressPolicy } from './policy';
import type { EgressSettings } from './policy';
import { checkUrl } from './url';

function reasonFor(text: string, parts: Partial<EgressSettings> = {}): string {
  const settings = { allow: [], allowHttp: false, ownServices: [], dnsServers: [], ...parts };
  try {
    const policy = parseEgressPolicy(settings);
    checkUrl(policy, new OwnServices(policy.ownServices, () => Promise.resolve([])), text);
    return 'fine';
  } catch (error) {
    if (error instanceof EgressRefused) return error.reason;
    throw error;
  }
}

describe('checkUrl', () => {
  it.each(forbiddenHosts.map((hosts) => [hosts]))(
    'refuses a forbidden literal address in every spelling: %s',
    (hosts) => {
      for (const host of hosts) {
        expect([host, reasonFor(`https://${host}/`)]).toEqual([host, 'address']);
        expect([host, reasonFor(`https://${host}:8443/x?y`)]).toEqual([host, 'address']);
      }
    },
  );

  it.each([
    ...[
      '',
      'x',
      '/x',
      '//host/x',
      'https:',
      'https:/host',
      'https:host',
      'https://',
      'https:///host',
    ],
    ...['https://?x', ' https://host', 'https://host ', 'https://ho st', 'https://host/a b'],
    ...[
      'https://host/a\tb',
      'https://host/\n',
      'https://host/\0',
      'https://host/\u0085',
      '\uFEFFhttps://h',
    ],
    ...[
      'https:\\\\host',
      'https://host\\@other',
      'https://host/\\..\\',
      'https://[fe80::1%25eth0]/',
    ],
    ...['https://[fe80::1%eth0]/', 'https://[::1', 'https://host:0/', 'https://host:99999/'],
    ...[
      'https://a*b/',
      'https://a..b/',
      'https://.a/',
      'https://256.1.1.1/',
      'https://exa%00mple/',
    ],
    ...[`https://${'a'.repeat(64)}.example/`, `https://${'a.'.repeat(130)}example/`, 'https://%/'],
  ])('refuses a text that has several readings or none: %j', (text) => {
    expect(reasonFor(text)).toBe('not_a_url');
  });

  it.each(['https://user@host/', 'https://user:pass@host/', 'https://@host/', 'https://:@host/'])(
    'refuses credentials: %s',
    (text) => expect(reasonFor(text)).toBe('credentials'),
  );

  it.each(['ftp://host/', 'file:///etc/passwd', 'gopher://host/', 'ws://host/', 'javascript:1'])(
    'refuses other protocols: %s',
    (text) => expect(reasonFor(text)).toBe('protocol'),
  );

  it.each(['localhost:3000', '10.0.0.1:80/x', 'shop.example', 'shop.example/hook?a=b'])(
    'tells that %s has no scheme',
    (text) => expect(reasonFor(text)).toBe('scheme'),
  );

  it('accepts public addresses and names over https', () => {
    expect(reasonFor('https://8.8.8.8/')).toBe('fine');
    expect(reasonFor('https://[2606:4700::1111]:8443/')).toBe('fine');
    expect(reasonFor('HTTPS://Example.com:8443/a/../b?c=%20#d')).toBe('fine');
    expect(reasonFor('https://bücher.example/')).toBe('fine');
  });

  it('accepts plain http with EGRESS_ALLOW_HTTP, or to an address that EGRESS_ALLOW lists', () => {
    const allow = ['127.0.0.1:8080'];
    expect(reasonFor('http://8.8.8.8/')).toBe('plain_http');
    expect(reasonFor('http://example.com/')).toBe('plain_http');
    expect(reasonFor('http://8.8.8.8/', { allowHttp: true })).toBe('fine');
    expect(reasonFor('http://example.com/', { allowHttp: true })).toBe('fine');
    expect(reasonFor('http://127.0.0.1:8080/', { allow })).toBe('fine');
    expect(reasonFor('http://0x7f.1:8080/', { allow })).toBe('fine');
    expect(reasonFor('http://[::ffff:127.0.0.1]:8080/', { allow })).toBe('fine');
    expect(reasonFor('http://8.8.8.8/', { allow })).toBe('plain_http');
    expect(reasonFor('http://127.0.0.1:8081/', { allow, allowHttp: true })).toBe('address');
  });

  it('refuses plain http to a name unless EGRESS_ALLOW could list an address of it with this port', () => {
    const allow = ['10.0.0.1:8080', '[fd00::/8]:9000'];
    expect(reasonFor('http://example.com/', { allow })).toBe('plain_http');
    expect(reasonFor('http://example.com:3000/', { allow })).toBe('plain_http');
    // The name may have the listed address, which is checked when it is called.
    expect(reasonFor('http://example.com:8080/', { allow })).toBe('fine');
    expect(reasonFor('http://example.com:9000/', { allow })).toBe('fine');
    expect(reasonFor('http://example.com/', { allow: ['10.0.0.0/8:*'] })).toBe('fine');
    expect(reasonFor('https://example.com/', { allow })).toBe('fine');
  });

  it('refuses this machine under the name localhost unless EGRESS_ALLOW lists it with this port', () => {
    for (const url of [
      'http://localhost:3000/',
      'https://localhost:3000/',
      'http://LOCALHOST.:3000/',
      'http://app.localhost:3000/',
    ]) {
      for (const allow of [[], ['127.0.0.1:8080'], ['10.0.0.0/8:*']]) {
        expect([url, reasonFor(url, { allow, allowHttp: true })]).toEqual([url, 'address']);
      }
      for (const allow of [['127.0.0.1:3000'], ['[::1]:*']]) {
        expect([url, reasonFor(url, { allow })]).toEqual([url, 'fine']);
      }
    }
    expect(reasonFor('https://localhost.example/')).toBe('fine');
  });

  it('refuses our own services with the text for any other address', () => {
    const parts = { allow: ['127.0.0.0/8:*'], ownServices: ['127.0.0.1:5432'] };
    expect(reasonFor('https://127.0.0.1:5432/', parts)).toBe('own_service');
    expect(reasonFor('https://127.0.0.1:5433/', parts)).toBe('fine');
    const named = { allow: ['10.0.0.1:*'], ownServices: ['127.0.0.1:5432', 'gateway:8080'] };
    for (const url of [
      'http://localhost:5432/',
      'https://LOCALHOST.:5432/',
      'http://gateway:8080/',
    ]) {
      expect([url, reasonFor(url, named)]).toEqual([url, 'own_service']);
    }
    expect(reasonFor('http://gateway:8081/', named)).toBe('fine');
    expect(new EgressRefused('own_service').message).toBe(new EgressRefused('address').message);
    const faultOf = (url: string, ownServices: string[]): string | undefined => {
      const policy = { allow: [], allowHttp: false, ownServices, dnsServers: [] };
      return createEgress(parseEgressPolicy(policy)).faultOfUrl(url);
    };
    for (const url of ['https://127.0.0.1:5432/', 'https://[::1]:5432/', 'http://localhost:5432']) {
      expect(faultOf(url, ['127.0.0.1:5432'])).toBe(faultOf(url, []));
    }
    expect(faultOf('https://[::1]:5432/', [])).toBe(
      'is not a public address; the operator may allow it with EGRESS_ALLOW=[::1]:5432',
    );
  });
});
