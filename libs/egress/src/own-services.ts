import { networkInterfaces } from 'node:os';
import {
  canonicalIpv6,
  embeddedIpv4,
  familyOf,
  parseAddressRange,
  portOf,
  type AddressRange,
} from './address-table';
import { unreachable } from './refusal';
import { namesThisMachine, withoutDot } from './names/system-names';

/** The place of one of our services: known addresses, or a name that is looked up repeatedly. */
export type OwnService =
  | { readonly range: AddressRange }
  | { readonly name: string; readonly port: number };

const defaultPorts: Readonly<Record<string, string>> = {
  'http:': '80',
  'https:': '443',
  'postgres:': '5432',
  'postgresql:': '5432',
  'redis:': '6379',
  'rediss:': '6379',
};

export function parseOwnService(entry: string): OwnService | 'unreadable' | 'not on the network' {
  if (entry.startsWith('unix:')) return 'not on the network';
  const range = parseAddressRange(entry);
  if (range) return { range };
  const isUrl = entry.includes('://');
  if (!isUrl && !/^[\w.-]+:\d+$/.test(entry)) return 'unreadable';
  let url: URL;
  try {
    url = new URL(isUrl ? entry : `tcp://${entry}`);
  } catch {
    return 'unreadable';
  }
  // A connection string without a host means a unix socket.
  if (url.hostname === '') return 'not on the network';
  const port = portOf(url.port || (defaultPorts[url.protocol] ?? ''));
  if (port === undefined) return 'unreadable';
  const name = url.hostname.toLowerCase();
  const address = name === 'localhost' ? '127.0.0.1' : name;
  const known = parseAddressRange(`${address}:${port}`);
  return known ? { range: known } : { name, port };
}

const freshMs = 10_000;

/** Knows our own addresses: as they were written, or as their names now resolve. */
export class OwnServices {
  readonly #ranges: AddressRange[] = [];
  readonly #names: { readonly name: string; readonly port: number }[] = [];
  readonly #resolved = new Map<string, readonly string[]>();
  #machine: ReadonlySet<string> = addressesOfThisMachine();
  #freshUntil = 0;
  #refreshing: Promise<void> | undefined;

  constructor(
    services: readonly OwnService[],
    private readonly lookUp: (name: string) => Promise<readonly string[]>,
  ) {
    for (const service of services) this.add(service);
  }

  /** The addresses of a name are looked up before the next connection. */
  add(service: OwnService): void {
    if ('range' in service) this.#ranges.push(service.range);
    else this.#names.push(service);
    this.#freshUntil = 0;
  }

  /** Uses the addresses known so far. Await refresh() before a connection. */
  include(address: string, port: number): boolean {
    const inner = embeddedIpv4(address);
    return this.#hold(address, port) || (inner !== undefined && this.#hold(inner, port));
  }

  /** True if the name alone shows one of our services or this machine, before any look-up. */
  areNamed(name: string, port: number): boolean {
    const plain = withoutDot(name.toLowerCase());
    if (namesThisMachine(plain)) {
      return this.include('127.0.0.1', port) || this.include('::1', port);
    }
    return this.#names.some((own) => own.name === plain && own.port === port);
  }

  /**
   * Looks the names up again when due. A name that was resolved before keeps its addresses through
   * a failure of DNS. A name that never was rejects: it must not let everything through.
   */
  async refresh(): Promise<void> {
    if (performance.now() < this.#freshUntil) return;
    this.#refreshing ??= this.#refreshNow().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  #hold(address: string, port: number): boolean {
    const isHere = (single: string): boolean =>
      isSame(single, address) || (this.#isLocal(single) && this.#isLocal(address));
    return (
      this.#ranges.some(
        (range) =>
          (range.port === '*' || range.port === port) &&
          (range.covers(address, port) || (range.single !== undefined && isHere(range.single))),
      ) ||
      this.#names.some(
        ({ name, port: ownPort }) => ownPort === port && this.#resolved.get(name)?.some(isHere),
      )
    );
  }

  /** A service on one address of this machine may listen on all of them. */
  #isLocal(address: string): boolean {
    if (familyOf(address) === 4) return /^(127|0)\./.test(address) || this.#machine.has(address);
    const canonical = canonicalIpv6(address);
    return canonical === '::1' || canonical === '::' || this.#machine.has(canonical);
  }

  async #refreshNow(): Promise<void> {
    this.#machine = addressesOfThisMachine();
    await Promise.all(
      [...new Set(this.#names.map(({ name }) => name))].map(async (name) => {
        try {
          const addresses = await this.lookUp(name);
          // An answer with a zone cannot be dialled anyway.
          this.#resolved.set(
            name,
            addresses.filter((address) => familyOf(address)),
          );
        } catch (error) {
          if (this.#resolved.has(name)) return;
          const failure = unreachable(error, 'name');
          if (failure.code !== 'ENOTFOUND') throw failure;
        }
      }),
    );
    this.#freshUntil = performance.now() + freshMs;
  }
}

const isSame = (one: string, other: string): boolean =>
  familyOf(one) === 6 && familyOf(other) === 6
    ? canonicalIpv6(one) === canonicalIpv6(other)
    : one === other;

function addressesOfThisMachine(): ReadonlySet<string> {
  return new Set(
    Object.values(networkInterfaces()).flatMap((addresses) =>
      (addresses ?? []).map(({ address }) => {
        const [withoutZone = ''] = address.split('%');
        return familyOf(withoutZone) === 6 ? canonicalIpv6(withoutZone) : withoutZone;
      }),
    ),
  );
}
