import {
  familyOf,
  isPublic,
  mappedIpv4,
  parseAddressRange,
  type AddressRange,
} from './address-table';
import { parseOwnService, type OwnService, type OwnServices } from './own-services';
import { isNameServer } from './names/system-names';

export interface EgressSettings {
  /**
   * EGRESS_ALLOW: `ip:port` or `cidr:port`, `*` for any port, IPv6 as `[::1]:443`, `[fd00::/8]:*`.
   */
  readonly allow: readonly string[];
  /** EGRESS_ALLOW_HTTP: plain http to public addresses. */
  readonly allowHttp: boolean;
  /**
   * Addresses that are refused whatever `allow` says: `host:port`, in the form of `allow`, or a
   * URL.
   */
  readonly ownServices: readonly string[];
  /** EGRESS_DNS: `ip` or `ip:port` of the resolvers to ask. Empty: those of the system. */
  readonly dnsServers: readonly string[];
}

export interface EgressPolicy {
  readonly named: readonly AddressRange[];
  readonly allowHttp: boolean;
  readonly ownServices: readonly OwnService[];
  readonly dnsServers: readonly string[];
}

/** The policy of an app by its settings, which also refuses the services that the app knows. */
export const egressPolicyOf = (
  settings: {
    readonly EGRESS_ALLOW: readonly string[];
    readonly EGRESS_ALLOW_HTTP: boolean;
    readonly EGRESS_DNS?: readonly string[];
    readonly EGRESS_OWN_SERVICES: readonly string[];
  },
  knownServices: readonly string[],
): EgressPolicy =>
  parseEgressPolicy({
    allow: settings.EGRESS_ALLOW,
    allowHttp: settings.EGRESS_ALLOW_HTTP,
    dnsServers: settings.EGRESS_DNS ?? [],
    ownServices: [...settings.EGRESS_OWN_SERVICES, ...knownServices],
  });

export function parseEgressPolicy(settings: EgressSettings): EgressPolicy {
  return {
    named: settings.allow.map((entry) => {
      const range = parseAddressRange(entry);
      if (range) return range;
      throw new Error(
        `EGRESS_ALLOW: "${entry}" is not ip:port or cidr:port ` +
          '(IPv6 in brackets: [::1]:443, [fd00::/8]:*; names are not possible)',
      );
    }),
    allowHttp: settings.allowHttp,
    ownServices: settings.ownServices.flatMap((entry, at) => readOwnService(entry, at + 1)),
    dnsServers: settings.dnsServers.map((server) => {
      if (isNameServer(server)) return server;
      throw new Error(`EGRESS_DNS: "${server}" is not ip or ip:port`);
    }),
  };
}

/** Our own services at these ports. 0: the system chooses it, and the app adds it then. */
export const ownServicesAt = (host: string, ports: readonly number[]): string[] =>
  ports.filter((port) => port > 0).map((port) => `${host}:${port}`);

export function readOwnService(entry: string, nth: number): OwnService[] {
  const service = parseOwnService(entry);
  // Not shown: the entry may be a connection string with a password in it.
  if (service === 'unreadable') {
    throw new Error(`own services: entry ${nth} is neither host:port nor a URL with a port`);
  }
  return service === 'not on the network' ? [] : [service];
}

/** named: EGRESS_ALLOW lists this address and port, which then also allows plain http. */
type Verdict = 'public' | 'named' | 'address' | 'own_service';

/**
 * Judges a v4-mapped address by its inner address for EGRESS_ALLOW and our own services, because
 * the kernel connects there. It is never public, because nobody needs that spelling.
 */
export function judge(
  policy: EgressPolicy,
  own: OwnServices,
  address: string,
  port: number,
): Verdict {
  if (familyOf(address) === undefined) return 'address';
  if (own.include(address, port)) return 'own_service';
  const inner = mappedIpv4(address);
  const isNamed = policy.named.some(
    (range) => range.covers(address, port) || (inner !== undefined && range.covers(inner, port)),
  );
  if (isNamed) return 'named';
  return isPublic(address) ? 'public' : 'address';
}

/** True if EGRESS_ALLOW lists some address with this port. */
export const namesPort = (policy: EgressPolicy, port: number): boolean =>
  policy.named.some((range) => range.port === '*' || range.port === port);

/** True if the address may be reached at some port. */
export function mayReach(policy: EgressPolicy, own: OwnServices, address: string): boolean {
  const namedPorts = policy.named.map(({ port }) => (port === '*' ? anyPort : port));
  return [anyPort, ...namedPorts].some((port) =>
    ['public', 'named'].includes(judge(policy, own, address, port)),
  );
}

/** No service has it, so only an entry for all ports covers it. */
const anyPort = 0;
