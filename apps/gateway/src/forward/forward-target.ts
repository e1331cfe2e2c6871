import { isIPv6 } from 'node:net';
import { hostPatternsOf } from '@glovebox/access';
import { canonicalHost } from '@glovebox/egress';

/** Where a request of forward mode wants to go, in one spelling. */
export interface ForwardTarget {
  /** A name in ASCII and lower case without a dot at its end, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly origin: string;
  /** The spellings of all patterns that cover it, the most specific first. */
  readonly hostPatterns: readonly string[];
}

type Scheme = 'http' | 'https';

const ownPorts: Readonly<Record<Scheme, number>> = { http: 80, https: 443 };
const authorityForm = /^(\[[^\]]*\]|[^:@\s/\\?#]+)(?::(\d{1,5}))?$/;

/** Undefined: it names no host that can be read in one way. */
export function readAuthority(text: string, scheme: Scheme): ForwardTarget | undefined {
  const [, written = '', digits] = authorityForm.exec(text) ?? [];
  const host = canonicalHost(written)?.replace(/\.$/, '');
  const port = digits === undefined ? ownPorts[scheme] : Number(digits);
  if (host === undefined || port < 1 || port > 65_535) return undefined;
  return targetOf(scheme, host, port);
}

/** The same host and port in plain http. */
export const inPlain = ({ host, port }: ForwardTarget): ForwardTarget =>
  targetOf('http', host, port);

function targetOf(scheme: Scheme, host: string, port: number): ForwardTarget {
  const bare = isIPv6(host) ? `[${host}]` : host;
  const origin = `${scheme}://${bare}${port === ownPorts[scheme] ? '' : `:${port}`}`;
  return { host, port, origin, hostPatterns: hostPatternsOf(origin) };
}

interface AbsoluteForm {
  readonly target: ForwardTarget;
  readonly pathAndQuery: string;
}

const absoluteForm = /^http:\/\/([^/?#]*)(.*)$/is;

/** Undefined: the request target is none. */
export function readAbsoluteForm(url: string): AbsoluteForm | undefined {
  const [, authority = '', rest = ''] = absoluteForm.exec(url) ?? [];
  const target = readAuthority(authority, 'http');
  return target && { target, pathAndQuery: rest.startsWith('/') ? rest : `/${rest}` };
}

/** True if a name of TLS is that of the target. */
export const namesHost = (name: string, { host }: ForwardTarget): boolean =>
  name === host || canonicalHost(name)?.replace(/\.$/, '') === host;

/** True if a Host header names the target. HTTP/1.0 has none, and contradicts nothing. */
export function namesTarget(hostHeader: string | undefined, { origin }: ForwardTarget): boolean {
  const scheme = origin.startsWith('https:') ? 'https' : 'http';
  // Nearly every client writes it so.
  if (hostHeader === origin.slice(scheme.length + '://'.length)) return true;
  return hostHeader === undefined || readAuthority(hostHeader, scheme)?.origin === origin;
}
