import { isIP } from 'node:net';
import { hostPatternsOf } from '@glovebox/access';
import type { Opening } from './first-bytes';

/** What code wants to connect to. */
export interface Port {
  readonly host: string;
  readonly port: number;
}

const addressesMax = 1_000;

/** The names that code has looked up: some clients connect to the address that they got. */
export class NamesOfAddresses {
  readonly #names = new Map<string, Set<string>>();
  #size = 0;

  note(name: string, addresses: readonly string[]): void {
    for (const address of addresses) {
      const names = this.#names.get(address) ?? new Set();
      if (names.has(name)) continue;
      if (this.#size >= addressesMax) return;
      this.#size += 1;
      this.#names.set(address, names.add(name));
    }
  }

  of(address: string): readonly string[] {
    return [...(this.#names.get(address) ?? [])];
  }
}

/** The hosts that code may reach which holds values of tokens. */
export class HostReach {
  readonly #patterns: ReadonlySet<string>;
  /** Without scheme and port: a name is looked up for neither. */
  readonly #hosts: ReadonlySet<string>;

  constructor(
    patterns: readonly string[],
    private readonly names: NamesOfAddresses,
  ) {
    this.#patterns = new Set(patterns);
    this.#hosts = new Set(patterns.map((one) => one.replace(/^http:\/\/|:\d+$/g, '')));
  }

  /**
   * True for a connection that has been opened so. Many hosts may share an address: TLS has to name
   * one that is allowed. Only an address that is allowed itself needs no name.
   */
  allows({ host, port }: Port, opening: Opening): boolean {
    const isAddress = isIP(host) !== 0;
    const asked = isAddress ? [host, ...this.names.of(host)] : [host];
    const isOpen = (scheme: 'http' | 'https', name: string): boolean =>
      has(this.#patterns, name, `${scheme}://${inUrl(name)}:${port}`);
    if (asked.some((name) => isOpen('http', name))) return true;
    if (!asked.some((name) => isOpen('https', name))) return false;
    if (typeof opening === 'string') return opening === 'unknown';
    const { serverName } = opening;
    return serverName === undefined
      ? isAddress && isOpen('https', host)
      : isOpen('https', serverName);
  }

  /** True if the name may be looked up. */
  mayKnow(name: string): boolean {
    return has(this.#hosts, name, `https://${inUrl(name)}`);
  }
}

function has(patterns: ReadonlySet<string>, name: string, origin: string): boolean {
  // A URL would end its host there, and the dialer would not.
  if (/[\s\p{Cc}/\\?#@[\]%]/u.test(name)) return false;
  return hostPatternsOf(origin).some((pattern) => patterns.has(pattern));
}

const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);
