import { HostReach, NamesOfAddresses } from './host-reach';

const reachOf = (patterns: string[], names = new NamesOfAddresses()): HostReach =>
  new HostReach(patterns, names);

describe('the hosts that code may reach', () => {
  const reach = reachOf(['allowed.test:8443', '*.below.test', 'http://plain.test', '[::1]:8443']);

  it.each([
    ['ALLOWED.test.', 8443, false],
    ['a.b.below.test', 443, false],
    ['plain.test', 80, true],
    ['plain.test', 80, false],
    ['::1', 8443, false],
  ])('hold %s and port %i', (host, port, isPlain) => {
    expect(reach.allows({ host, port }, isPlain)).toBe(true);
    expect(reach.allows({ host, port }, undefined)).toBe(true);
  });

  it.each([
    ['allowed.test', 8443, true],
    ['allowed.test', 443, false],
    ['allowed.test.evil.test', 8443, false],
    ['below.test', 443, false],
    ['plain.test', 443, false],
    ['127.0.0.1', 8443, false],
    ['allowed.test:8443/', 8443, false],
    ['allowed.test/.evil.test', 8443, false],
    ['allowed.test#.evil.test', 8443, false],
    ['user@allowed.test', 8443, false],
    ['allowed.test\\evil.test', 8443, false],
    ['::1%lo', 8443, false],
    ['', 8443, false],
  ])('do not hold %s and port %i where the bytes are plain: %s', (host, port, isPlain) => {
    expect(reach.allows({ host, port }, isPlain)).toBe(false);
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
    const allowed = (host: string, port = 443) => bound.allows({ host, port }, false);
    expect(['192.0.2.2', '192.0.2.3'].map((host) => allowed(host))).toEqual([true, true]);
    expect([allowed('192.0.2.1'), allowed('192.0.2.2', 8443)]).toEqual([false, false]);
  });

  it('remember 1,000 addresses of names at most', () => {
    const names = new NamesOfAddresses();
    const address = (n: number): string => `10.0.${Math.floor(n / 250)}.${n % 250}`;
    for (let n = 0; n < 1_100; n += 1) names.note('allowed.test', [address(n)]);
    expect(names.of(address(999))).toEqual(['allowed.test']);
    expect(names.of(address(1_000))).toEqual([]);
  });
});
