import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

/** What the drivers give to `tls.connect`. */
export interface StoreTls {
  readonly host: string;
  readonly servername?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Where a store is, and how it proves to be it. */
export interface StoreUrl {
  /** With the login, for the driver. It says nothing of TLS. */
  readonly url: string;
  /** Undefined: the connection is not encrypted. */
  readonly tls: StoreTls | undefined;
}

/** The parameters that are ours to read. The names are those of libpq. */
const tlsParameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'ssl'] as const;

/**
 * Reads the address of Postgres or Redis. `sslmode=verify-full` and `rediss:` encrypt, and check the
 * certificate and the name in it. Between that and no TLS there is nothing: an encrypted connection
 * to nobody knows whom is none. `sslrootcert` is the file of the authorities, in place of those of
 * Node.js.
 */
export function parseStoreUrl(text: string): StoreUrl {
  if (!URL.canParse(text)) return { url: text, tls: undefined };
  const url = new URL(text);
  const given = Object.fromEntries(tlsParameters.map((name) => [name, url.searchParams.get(name)]));
  for (const name of tlsParameters) url.searchParams.delete(name);
  const isTls = url.protocol === 'rediss:' || given['sslmode'] === 'verify-full';
  if (url.protocol === 'rediss:') url.protocol = 'redis:';
  const { sslmode = null, ssl = null } = given;
  if ((sslmode !== null && sslmode !== 'disable' && sslmode !== 'verify-full') || ssl !== null) {
    throw new Error('names an sslmode other than verify-full and disable');
  }
  const files = (['sslrootcert', 'sslcert', 'sslkey'] as const).filter((name) => given[name]);
  if (!isTls) {
    if (files.length === 0) return { url: url.href, tls: undefined };
    throw new Error(`has ${files.join(' and ')}, but no TLS: use sslmode=verify-full or rediss:`);
  }
  const read = (name: (typeof files)[number]): string | undefined => {
    const file = given[name];
    if (!file) return undefined;
    try {
      return readFileSync(file, 'utf8');
    } catch {
      throw new Error(`names an ${name} that cannot be read`);
    }
  };
  const host = url.hostname.replace(/^\[(.+)\]$/, '$1');
  const options = { ca: read('sslrootcert'), cert: read('sslcert'), key: read('sslkey') };
  const tls = {
    // The drivers compare an address with the name "localhost", unless they are told the host.
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
  };
  return { url: url.href, tls };
}

/** Puts a user and a password, each from a file of its own, into an address. */
export function withLogin(
  text: string,
  {
    user,
    password,
  }: { readonly user?: string | undefined; readonly password?: string | undefined },
): string {
  if (user === undefined && password === undefined) return text;
  const url = new URL(text);
  // The setters encode, but leave "%" as it is.
  if (user !== undefined) url.username = encodeURIComponent(user);
  if (password !== undefined) url.password = encodeURIComponent(password);
  return url.href;
}

/** Host, port and database of an address, to be shown. */
export function withoutLogin(text: string): string {
  const { host, pathname } = URL.canParse(text) ? new URL(text) : { host: '', pathname: '' };
  if (host === '') return 'an address that cannot be shown';
  return `${host}${pathname === '/' ? '' : pathname}`;
}
