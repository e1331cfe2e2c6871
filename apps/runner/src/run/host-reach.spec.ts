import { HostReach, NamesOfAddresses } from './host-reach';

const reachOf = (patterns: string[], names = new NamesOfAddresses()): HostReach =>
  new HostReach(patterns, names);

describe('the hosts that code may reach', () => {
  const reach = reachOf(['allowed.test:8443', '*.below.test', 'http://plain.test', '[::1]:8443']);

  it.each([
    ['ALLOWED.test.', 8443, { serverName: 'allowed.TEST' }],
    ['allowed.test', 8443, { serverName: 'allowed.test' }],
    ['a.b.below.test', 443, { serverName: 'c.below.test' }],
    ['plain.test', 80, 'plain'],
    ['plain.test', 80, 'unreadable'],
    ['plain.test', 80, { serverName: 'other.test' }],
    ['::1', 8443, { serverName: undefined }],
    ['::1', 8443, { serverName: 'allowed.test' }],
  ] as const)('hold %s and port %i, opened by %j', (host, port, opening) => {
    expect(reach.allows({ host, port }, opening)).toBe(true);
    expect(reach.allows({ host, port }, 'unknown')).toBe(true);
  });

  it.each([
    ['allowed.test', 8443, 'plain'],
    ['allowed.test', 8443, 'unreadable'],
    ['allowed.test', 8443, { serverName: undefined }],
    ['allowed.test', 8443, { serverName: 'other.test' }],
    ['allowed.test', 8443, { serverName: 'allowed.test/' }],
    ['allowed.test', 8443, { serverName: 'a.below.test' }],
    ['a.below.test', 443, { serverName: 'below.test' }],
    ['::1', 8443, { serverName: 'other.test' }],
    ['::1', 8443, 'plain'],
  ] as const)('do not hold %s and port %i, opened by %j', (host, port, opening) => {
    expect(reach.allows({ host, port }, opening)).toBe(false);
  });

  it.each([
    ['allowed.test', 443],
    ['allowed.test.evil.test', 8443],
    ['below.test', 443],
    ['plain.test', 443],
    ['127.0.0.1', 8443],
    ['allowed.test:8443/', 8443],
    ['allowed.test/.evil.test', 8443],
    ['allowed.test#.evil.test', 8443],
    ['user@allowed.test', 8443],
    ['allowed.test\\evil.test', 8443],
    ['::1%lo', 8443],
    ['', 8443],
  ])('do not hold %s and port %i, whatever is sent', (host, port) => {
    for (const opening of ['unknown', 'plain', { serverName: 'allowed.test' }] as const) {
      expect(reach.allows({ host, port }, opening)).toBe(false);
    }
  });

  it('are looked up by their names alone', () => {
    const known = ['allowed.test', 'x.below.test', 'plain.test', '::1'];
    const unknown = [
      'secret.allowed.test',
      'below.test',
      'other.test',
      'allowed.test/.evil.test',
      '',
    ];
    expect(known.filter((name) => !reach.mayKnow(name))).toEqual([]);
    expect(unknown.filter((name) => reach.mayKnow(name))).toEqual([]);
  });

  it('hold the addresses that code has got for their names', () => {
    const names = new NamesOfAddresses();
    names.note('other.test', ['192.0.2.1']);
    names.note('allowed.test', ['192.0.2.2', '192.0.2.3']);
    const bound = reachOf(['allowed.test'], names);
    const allowed = (host: string, port = 443) =>
      bound.allows({ host, port }, { serverName: 'allowed.test' });
    expect(['192.0.2.2', '192.0.2.3'].map((host) => allowed(host))).toEqual([true, true]);
    expect([allowed('192.0.2.1'), allowed('192.0.2.2', 8443)]).toEqual([false, false]);
    const unnamed = bound.allows({ host: '192.0.2.2', port: 443 }, { serverName: undefined });
    expect(unnamed).toBe(false);
  });

  it('remember 1,000 addresses of names at most', () => {
    const names = new NamesOfAddresses();
    const address = (n: number): string => `10.0.${Math.floor(n / 250)}.${n % 250}`;
    for (let n = 0; n < 1_100; n += 1) names.note('allowed.test', [address(n)]);
    expect(names.of(address(999))).toEqual(['allowed.test']);
    expect(names.of(address(1_000))).toEqual([]);
  });
});
