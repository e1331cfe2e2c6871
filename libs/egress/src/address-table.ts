import { BlockList, isIP, isIPv4 } from 'node:net';

/**
 * IPv4 that is not public: the IANA special-purpose registry, its globally reachable anycast
 * services included (no destination is there), multicast, and one address that Azure uses outside
 * of it.
 */
const specialIpv4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier NAT, holds Alibaba's metadata 100.100.100.200
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's metadata and DNS
  '169.254.0.0/16', // link-local, holds the metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, holds Oracle's metadata 192.0.0.192
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
];

/**
 * IPv6 that is not public. IANA assigns unicast addresses in 2000::/3 only, so everything outside
 * of it is blocked: v4-mapped and -compatible, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard,
 * segment routing, unique-local (with AWS's metadata fd00:ec2::254), link-local, site-local,
 * multicast, and future ranges.
 */
const specialIpv6 = [
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID, AMT, AS112
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4 reaches any IPv4 address through a relay
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // 6bone, given back
  '3fff::/20', // documentation
];

// Two lists: in a shared one every IPv4 address would match ::/3, as its v4-mapped form.
const special = { 4: blockListOf(specialIpv4), 6: blockListOf(specialIpv6) };

/**
 * True for global unicast without a special purpose. A text that is not an address is not public.
 */
export function isPublic(address: string): boolean {
  const family = familyOf(address);
  return family !== undefined && !special[family].check(address, blockListFamily(family));
}

/** A range of addresses, at one port or at any. */
export interface AddressRange {
  readonly covers: (address: string, port: number) => boolean;
  /** The address, if the range holds only one. */
  readonly single: string | undefined;
  readonly port: number | '*';
}

const rangeForm =
  /^(?:(?<v4>[\d.]+)(?:\/(?<bits4>\d{1,2}))?|\[(?<v6>[\da-f:.]+)(?:\/(?<bits6>\d{1,3}))?\]):(?<port>\*|\d{1,5})$/i;

/** `ip:port` or `cidr:port`, IPv6 in brackets with its prefix length inside, `*` for any port. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const parts = rangeForm.exec(text)?.groups;
  if (!parts) return undefined;
  const address = parts['v4'] ?? parts['v6'] ?? '';
  const family = familyOf(address);
  const port = parts['port'] === '*' ? '*' : portOf(parts['port'] ?? '');
  if (family === undefined || (family === 4) !== (parts['v4'] !== undefined)) return undefined;
  if (port === undefined) return undefined;
  const bitsMax = family === 4 ? 32 : 128;
  const bits = Number(parts['bits4'] ?? parts['bits6'] ?? bitsMax);
  if (bits > bitsMax) return undefined;
  const list = blockListOf([`${address}/${bits}`]);
  return {
    single: bits === bitsMax ? address : undefined,
    port,
    covers: (candidate, candidatePort) =>
      (port === '*' || port === candidatePort) &&
      familyOf(candidate) === family &&
      list.check(candidate, blockListFamily(family)),
  };
}

export function portOf(text: string): number | undefined {
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port > 0 && port <= 65_535 ? port : undefined;
}

/**
 * Undefined for an address with a zone (`fe80::1%eth0`), which would let the text choose the
 * interface.
 */
export function familyOf(address: string): 4 | 6 | undefined {
  const family = address.includes('%') ? 0 : isIP(address);
  return family === 4 || family === 6 ? family : undefined;
}

/** The IPv4 address that the kernel makes of a v4-mapped IPv6 address. */
export function mappedIpv4(address: string): string | undefined {
  const groups = groupsOf(address);
  return groups && startsWith(groups, [0, 0, 0, 0, 0, 0xffff]) ? ipv4At(groups, 6) : undefined;
}

/** The IPv4 address that a translator in the network may make of an IPv6 address. */
export function embeddedIpv4(address: string): string | undefined {
  const groups = groupsOf(address);
  if (!groups) return undefined;
  if (groups[0] === 0x2002) return ipv4At(groups, 1);
  const holds =
    startsWith(groups, [0, 0, 0, 0, 0, 0xffff]) ||
    startsWith(groups, [0, 0, 0, 0, 0xffff, 0]) ||
    startsWith(groups, [0, 0, 0, 0, 0, 0]) ||
    startsWith(groups, [0x64, 0xff9b]);
  return holds ? ipv4At(groups, 6) : undefined;
}

const startsWith = (groups: readonly number[], prefix: readonly number[]): boolean =>
  prefix.every((group, at) => groups[at] === group);

function ipv4At(groups: readonly number[], at: number): string {
  return [groups[at] ?? 0, groups[at + 1] ?? 0].flatMap((two) => [two >> 8, two & 255]).join('.');
}

/** The eight groups of an IPv6 address, in any spelling. */
function groupsOf(address: string): number[] | undefined {
  if (familyOf(address) !== 6) return undefined;
  const [head = '', tail = ''] = canonicalIpv6(address).split('::');
  const first = head.split(':').filter(Boolean);
  const last = tail.split(':').filter(Boolean);
  const zeros = Array<string>(8 - first.length - last.length).fill('0');
  return [...first, ...zeros, ...last].map((group) => Number.parseInt(group, 16));
}

/** Lower case, shortest form, no dotted ending: one text for one address. */
export function canonicalIpv6(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

function blockListOf(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = '', bits] = subnet.split('/');
    list.addSubnet(address, Number(bits), blockListFamily(isIPv4(address) ? 4 : 6));
  }
  return list;
}

function blockListFamily(family: 4 | 6): 'ipv4' | 'ipv6' {
  return family === 4 ? 'ipv4' : 'ipv6';
}
