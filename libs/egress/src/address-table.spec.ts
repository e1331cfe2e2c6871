import { embeddedIpv4, isPublic, mappedIpv4, parseAddressRange } from './address-table';

describe('the table of public addresses', () => {
  it.each([
    ['this network', '0.0.0.0', '0.255.255.255'],
    ['private 10/8', '10.0.0.0', '10.255.255.255'],
    ['carrier NAT', '100.64.0.0', '100.127.255.255'],
    ['Alibaba metadata', '100.100.100.200'],
    ['loopback', '127.0.0.1', '127.255.255.255'],
    ['Azure metadata', '168.63.129.16'],
    ['link-local', '169.254.0.0', '169.254.255.255'],
    ['cloud metadata', '169.254.169.254'],
    ['private 172.16/12', '172.16.0.0', '172.31.255.255'],
    ['protocol assignments', '192.0.0.0', '192.0.0.192', '192.0.0.255'],
    ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1'],
    ['AS112', '192.31.196.1', '192.175.48.1'],
    ['AMT', '192.52.193.1'],
    ['6to4 relay', '192.88.99.1'],
    ['private 192.168/16', '192.168.0.0', '192.168.255.255'],
    ['benchmarks', '198.18.0.0', '198.19.255.255'],
    ['multicast', '224.0.0.1', '239.255.255.255'],
    ['reserved and broadcast', '240.0.0.0', '255.255.255.255'],
    ['unspecified', '::', '0:0:0:0:0:0:0:0'],
    ['IPv6 loopback', '::1', '0000:0000:0000:0000:0000:0000:0000:0001'],
    ['v4-mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::FFFF:8.8.8.8'],
    ['v4-compatible', '::127.0.0.1', '::8.8.8.8'],
    ['v4-translated', '::ffff:0:127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '64:ff9b:1:ffff::a00:1'],
    ['discard', '100::', '100::1', '100:0:0:1::1'],
    ['Teredo', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['anycast of protocols', '2001:1::1', '2001:1::2', '2001:1::3'],
    ['IPv6 benchmarks', '2001:2::1'],
    ['IPv6 AMT', '2001:3::1'],
    ['IPv6 AS112', '2001:4:112::1', '2620:4f:8000::1'],
    ['ORCHID', '2001:10::1', '2001:20::1', '2001:2f:ffff::1'],
    ['DRIP', '2001:30::1'],
    ['IPv6 documentation', '2001:db8::1', '3fff::1', '3fff:fff:ffff::1'],
    ['6to4', '2002::1', '2002:7f00:1::1'],
    ['6bone', '3ffe::1'],
    ['segment routing', '5f00::1'],
    ['unique-local', 'fc00::1', 'fdff::1'],
    ['AWS metadata', 'fd00:ec2::254'],
    ['link-local', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
    ['site-local', 'fec0::1', 'feff::1'],
    ['IPv6 multicast', 'ff00::1', 'ff02::1', 'ffff::1'],
    ['unassigned', '200::1', '400::1', '1000::1', '4000::1', '8000::1', 'e000::1', 'fe00::1'],
    ['not an address', '', 'localhost', '1.2.3', '127.1', '0x7f.0.0.1', '[::1]', '8.8.8.8%eth0'],
  ])('blocks %s', (_what, ...addresses) => {
    expect(addresses.filter(isPublic)).toEqual([]);
  });

  it('allows global unicast up to the edges of the blocked ranges', () => {
    const addresses = [
      ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0'],
      ...['126.255.255.255', '128.0.0.0', '168.63.129.15', '168.63.129.17', '169.253.255.255'],
      ...['169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.0.3.0', '192.88.98.1'],
      ...['192.88.100.1', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0'],
      ...['203.0.112.1', '203.0.114.1', '223.255.255.255'],
      ...['2000::1', '2001:200::1', '2001:db7::1', '2001:db9::1', '2003::1', '2606:4700::1111'],
      ...[
        '2620:4f:7fff::1',
        '2620:4f:8001::1',
        '2a00:1450:4001:80b::200e',
        '3ffd::1',
        '3fff:1000::1',
      ],
    ];
    expect(addresses.filter((address) => !isPublic(address))).toEqual([]);
  });
});

describe('IPv4 inside of IPv6', () => {
  it.each([
    ['::ffff:10.1.2.3', '10.1.2.3', '10.1.2.3'],
    ['0:0:0:0:0:FFFF:0a01:0203', '10.1.2.3', '10.1.2.3'],
    ['::10.1.2.3', undefined, '10.1.2.3'],
    ['64:ff9b::a01:203', undefined, '10.1.2.3'],
    ['2002:a01:203::1', undefined, '10.1.2.3'],
    ['2606:4700::1111', undefined, undefined],
    ['10.1.2.3', undefined, undefined],
  ])('is read from %s', (address, mapped, embedded) => {
    expect(mappedIpv4(address)).toBe(mapped);
    expect(embeddedIpv4(address)).toBe(embedded);
  });
});

describe('a range of addresses', () => {
  it.each([
    ['10.0.0.5:8080', '10.0.0.5', 8080, true],
    ['10.0.0.5:8080', '10.0.0.5', 8081, false],
    ['10.0.0.5:8080', '10.0.0.6', 8080, false],
    ['10.0.0.0/8:*', '10.255.0.1', 1, true],
    ['10.0.0.0/8:*', '11.0.0.1', 1, false],
    ['0.0.0.0/0:443', '203.0.113.9', 443, true],
    ['0.0.0.0/0:443', '::1', 443, false],
    ['[::1]:443', '0:0:0:0:0:0:0:1', 443, true],
    ['[fd00::/8]:*', 'fdab::1', 9, true],
    ['[fd00::/8]:*', 'fc00::1', 9, false],
    // A shared list would match: an IPv4 address is looked up as its v4-mapped form too.
    ['[::/0]:*', '10.0.0.1', 9, false],
  ])('written %s, asked about %s port %d, says %s', (range, address, port, expected) => {
    expect(parseAddressRange(range)?.covers(address, port)).toBe(expected);
  });
});
