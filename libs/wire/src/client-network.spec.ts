import type { IncomingMessage } from 'node:http';
import { clientNetworkOf } from './client-network';

const seen = (peer: string, forwarded: string | undefined, hops: number): string =>
  clientNetworkOf(
    {
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
      socket: { remoteAddress: peer } as IncomingMessage['socket'],
    },
    hops,
  );

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
])('the network of %s is %s', (peer, network) => {
  expect(seen(peer, undefined, 0)).toBe(network);
});

it.each<[string, string | undefined, number, string]>([
  ['is the peer where no hop is trusted', '192.0.2.7', 0, '10.0.0.1'],
  ['is the entry of the one trusted hop', '192.0.2.7, 192.0.2.8', 1, '192.0.2.8'],
  ['is the entry of the outer of two', '1.1.1.1, 192.0.2.7,192.0.2.8', 2, '192.0.2.7'],
  ['is the first entry where there are fewer than hops', '192.0.2.8', 3, '192.0.2.8'],
  ['is the peer where the header is missing', undefined, 1, '10.0.0.1'],
  ['is the peer where the entry is no address', '192.0.2.7, unknown', 1, '10.0.0.1'],
  ['is the peer where the entry is empty', '192.0.2.7,', 1, '10.0.0.1'],
  ['may have a port', '192.0.2.8:4711', 1, '192.0.2.8'],
  ['may have brackets and a port', '[2001:db8::1]:443', 1, '2001:db8:0:0::/64'],
])('the client %s', (_, forwarded, hops, network) => {
  expect(seen('10.0.0.1', forwarded, hops)).toBe(network);
});
