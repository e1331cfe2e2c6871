import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * The network that a client calls from: its IPv4 address, or the first 64 bits of its IPv6 address,
 * of which everybody has as many as they like. Each trusted hop appends the address that called it
 * to X-Forwarded-For; what stands before these entries is the client's own word.
 */
export function clientNetworkOf(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  trustedHops: number,
): string {
  const peer = socket.remoteAddress ?? '';
  if (trustedHops === 0) return networkOf(peer) ?? peer;
  const entry = entryFromEnd(String(headers['x-forwarded-for'] ?? ''), trustedHops);
  return networkOf(withoutPort(entry.trim())) ?? networkOf(peer) ?? peer;
}

/** The nth entry of a list from its end, or the first if there are fewer. */
function entryFromEnd(list: string, nth: number): string {
  let end = list.length;
  for (let passed = 1; ; passed += 1) {
    const start = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
    if (passed === nth || start < 0) return list.slice(start + 1, end);
    end = start;
  }
}

function withoutPort(entry: string): string {
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(entry) ?? [];
  return bracketed ?? entry.replace(/^([^:]*):\d+$/, '$1');
}

function networkOf(address: string): string | undefined {
  const kind = isIP(address);
  if (kind === 4) return address;
  if (kind !== 6) return undefined;
  const [, mapped] = /^(?:0*:)*:?ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const [before = '', after = ''] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const groups = before === '' ? [] : before.split(':');
  const rest = after === '' ? [] : after.split(':');
  // An IPv4 address at the end stands for two groups.
  const written = groups.length + rest.length + (address.includes('.') ? 1 : 0);
  const zeros = address.includes('::') ? Array.from({ length: 8 - written }, () => '0') : [];
  const network = [...groups, ...zeros, ...rest].slice(0, 4);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
