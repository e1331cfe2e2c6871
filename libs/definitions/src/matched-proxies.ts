import { segmentsOf } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import type { ProxyDefinition, ProxyMatch } from './definition';

/** A request of forward mode. */
export interface ForwardedRequest {
  /** The spellings of all patterns that cover its host, the most specific first. */
  readonly hostPatterns: readonly string[];
  readonly method: string;
  /** As it was sent, without its query. */
  readonly path: string;
}

interface Entry {
  readonly proxy: ProxyDefinition;
  readonly segments: readonly string[];
  /** Undefined: any. */
  readonly method: string | undefined;
}

/**
 * Finds the proxy of a request by its host, then its path, then its method: in each the most
 * specific one that fits wins. A look-up asks as often as the name has labels, however many proxies
 * there are.
 */
export class MatchedProxies {
  /** By tenant, then by pattern of hosts; the most specific entry of a pattern first. */
  readonly #byTenant = new Map<string, Map<string, Entry[]>>();

  add(proxy: ProxyDefinition): void {
    const { tenantId, match } = proxy;
    if (!match) return;
    const byHost = this.#byTenant.get(tenantId) ?? new Map<string, Entry[]>();
    this.#byTenant.set(tenantId, byHost);
    for (const host of match.hosts) {
      const entries = [...(byHost.get(host) ?? []), ...entriesOf(proxy, match)];
      byHost.set(host, entries.sort(bySpecificity));
    }
  }

  remove({ id, tenantId, match }: ProxyDefinition): void {
    const byHost = this.#byTenant.get(tenantId);
    if (!match || !byHost) return;
    for (const host of match.hosts) {
      const left = byHost.get(host)?.filter(({ proxy }) => proxy.id !== id) ?? [];
      if (left.length > 0) byHost.set(host, left);
      else byHost.delete(host);
    }
    if (byHost.size === 0) this.#byTenant.delete(tenantId);
  }

  find(tenantId: string, { hostPatterns, method, path }: ForwardedRequest) {
    const byHost = this.#byTenant.get(tenantId);
    if (!byHost) return undefined;
    const segments = segmentsOf(path);
    for (const pattern of hostPatterns) {
      const entries = byHost.get(pattern) ?? [];
      if (!segments && entries.some((entry) => entry.segments.length > 0)) throw ambiguousPath();
      const found = entries.find((entry) => fits(entry, method, segments ?? []));
      if (found) return found.proxy;
    }
    return undefined;
  }

  knows(tenantId: string, hostPatterns: readonly string[]): boolean {
    const byHost = this.#byTenant.get(tenantId);
    return byHost !== undefined && hostPatterns.some((pattern) => byHost.has(pattern));
  }
}

const fits = (entry: Entry, method: string, segments: readonly string[]): boolean =>
  (entry.method === undefined || entry.method === method) &&
  entry.segments.every((segment, at) => segment === segments[at]);

/** One server would take it for a path that a proxy matches, and another for one that none does. */
const ambiguousPath = (): Problem =>
  new Problem('invalid_request', { detail: 'The path can be read in more than one way.' });

const entriesOf = (proxy: ProxyDefinition, match: ProxyMatch): Entry[] =>
  pathsOf(match).flatMap((path) =>
    methodsOf(match).map((method) => ({ proxy, segments: segmentsOf(path) ?? [], method })),
  );

const pathsOf = ({ paths }: ProxyMatch): readonly string[] => (paths.length > 0 ? paths : ['/']);
const methodsOf = ({ methods }: ProxyMatch): readonly (string | undefined)[] =>
  methods.length > 0 ? methods : [undefined];

/** The store refuses two that are alike. Should there be some, the same one always wins. */
function bySpecificity(a: Entry, b: Entry): number {
  return (
    b.segments.length - a.segments.length ||
    Number(b.method !== undefined) - Number(a.method !== undefined) ||
    (a.proxy.id < b.proxy.id ? -1 : 1)
  );
}

/**
 * Names each kind of request that a match covers. Two proxies that share a name are equally
 * specific for it, and two that share none for no request.
 */
export const matchKeysOf = (match: ProxyMatch): string[] =>
  match.hosts.flatMap((host) =>
    pathsOf(match).flatMap((path) =>
      methodsOf(match).map((method = '*') => `${method} ${host}${path === '/' ? '' : path}`),
    ),
  );
