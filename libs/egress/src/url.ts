import { canonicalIpv6, familyOf } from './address-table';
import { judge, namesPort, type EgressPolicy } from './policy';
import type { OwnServices } from './own-services';
import { EgressRefused } from './refusal';
import { namesThisMachine } from './names/system-names';

/**
 * Parses a URL once, and only if there is one way to read it. WHATWG would quietly repair white
 * space, backslashes and missing slashes. Another reader of the stored text would not, or
 * differently.
 */
export function checkUrl(policy: EgressPolicy, own: OwnServices, text: string): URL {
  if (/[\s\\\p{Cc}]/u.test(text)) throw new EgressRefused('not_a_url');
  if (withoutScheme.test(text)) throw new EgressRefused('scheme');
  const protocol = /^([a-z][a-z\d+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (protocol === undefined) throw new EgressRefused('not_a_url');
  if (protocol !== 'http' && protocol !== 'https') throw new EgressRefused('protocol');
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined) throw new EgressRefused('not_a_url');
  if (authority.includes('@')) throw new EgressRefused('credentials');
  const url = parse(text);
  const host = hostOf(url);
  const port = url.port === '' ? (protocol === 'https' ? 443 : 80) : Number(url.port);
  if (host === undefined || port === 0) throw new EgressRefused('not_a_url');

  const isPlain = protocol === 'http' && !policy.allowHttp;
  if (familyOf(host) === undefined) {
    checkName(policy, own, host, port);
    // EGRESS_ALLOW may list the address of the name, which is judged when it is called.
    if (isPlain && !namesPort(policy, port)) throw new EgressRefused('plain_http');
    return url;
  }
  const verdict = judge(policy, own, host, port);
  if (verdict === 'address' || verdict === 'own_service') {
    throw new EgressRefused(verdict, entryFor(host, port));
  }
  if (isPlain && verdict !== 'named') throw new EgressRefused('plain_http');
  return url;
}

/** `localhost:3000`, `shop.example/hook`. */
const withoutScheme = /^(?:[\w.-]+:\d{2,5}|[\w-]+(?:\.[\w-]+)+)(?:[/?#]|$)/;

/** Refuses what the name alone shows, before any look-up. */
function checkName(policy: EgressPolicy, own: OwnServices, name: string, port: number): void {
  const isThisMachine = namesThisMachine(name);
  const entry = isThisMachine ? entryFor('127.0.0.1', port) : undefined;
  if (own.areNamed(name, port)) throw new EgressRefused('own_service', entry);
  if (!isThisMachine) return;
  const verdicts = ['127.0.0.1', '::1'].map((address) => judge(policy, own, address, port));
  if (!verdicts.includes('named')) throw new EgressRefused('address', entry);
}

const entryFor = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new EgressRefused('not_a_url');
  }
}

const nameForm = /^(?!.{254})[a-z\d_-]{1,63}(\.[a-z\d_-]{1,63})*\.?$/;

/**
 * The one spelling of a host, with or without brackets: `0x7f.1`, `2130706433` and `127.1` become
 * the address that they are, and names come out in lower case and punycode.
 */
export function canonicalHost(host: string): string | undefined {
  const bare = /^\[.*\]$/s.test(host) ? host.slice(1, -1) : host;
  if (familyOf(bare) === 6) return canonicalIpv6(bare);
  if (/[\s\p{Cc}:/\\?#@[\]]/u.test(host)) return undefined;
  try {
    return hostOf(new URL(`http://${host}/`));
  } catch {
    return undefined;
  }
}

function hostOf({ hostname }: URL): string | undefined {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return nameForm.test(hostname) ? hostname : undefined;
}
