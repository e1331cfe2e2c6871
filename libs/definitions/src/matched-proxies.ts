import type { ProxyDefinition, ProxyMatch } from './definition';

/** A request of forward mode. All of it is normalised. */
export interface ForwardedRequest {
  /** In ASCII and lower case without a dot at its end, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly method: string;
  /** Decoded, without empty segments. */
  readonly segments: readonly string[];
}

interface Entry {
  readonly proxy: ProxyDefinition;
  readonly path: readonly string[];
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

  find(tenantId: string, request: ForwardedRequest): ProxyDefinition | undefined {
    const byHost = this.#byTenant.get(tenantId);
    if (!byHost) return undefined;
    for (const pattern of patternsOf(request.host, request.port)) {
      const found = byHost.get(pattern)?.find((entry) => fits(entry, request));
      if (found) return found.proxy;
    }
    return undefined;
  }

  knows(tenantId: string, host: string, port: number): boolean {
    const byHost = this.#byTenant.get(tenantId);
    if (!byHost) return false;
    for (const pattern of patternsOf(host, port)) if (byHost.has(pattern)) return true;
    return false;
  }
}

/** The patterns that cover a host, the most specific first. */
function* patternsOf(host: string, port: number): Generator<string> {
  const bare = host.includes(':') ? `[${host}]` : host;
  yield `${bare}:${port}`;
  yield bare;
  if (host.includes(':')) return;
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
    const pattern = `*${host.slice(dot)}`;
    yield `${pattern}:${port}`;
    yield pattern;
  }
}

const fits = ({ path, method }: Entry, request: ForwardedRequest): boolean =>
  (method === undefined || method === request.method) &&
  path.length <= request.segments.length &&
  path.every((segment, at) => segment === request.segments[at]);

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '');

const entriesOf = (proxy: ProxyDefinition, match: ProxyMatch): Entry[] =>
  pathsOf(match).flatMap((path) =>
    methodsOf(match).map((method) => ({ proxy, path: segmentsOf(path), method })),
  );

const pathsOf = ({ paths }: ProxyMatch): readonly string[] => (paths.length > 0 ? paths : ['/']);
const methodsOf = ({ methods }: ProxyMatch): readonly (string | undefined)[] =>
  methods.length > 0 ? methods : [undefined];

/** Two entries that are alike come from two proxies of an older store: the same one always wins. */
function bySpecificity(a: Entry, b: Entry): number {
  return (
    b.path.length - a.path.length ||
    Number(b.method !== undefined) - Number(a.method !== undefined) ||
    (a.proxy.id < b.proxy.id ? -1 : 1)
  );
}

/**
 * Names each kind of request that a match covers. Two proxies that share a name are equally
 * specific for it; two that share none never are.
 */
export const matchKeysOf = (match: ProxyMatch): string[] =>
  match.hosts.flatMap((host) =>
    pathsOf(match).flatMap((path) =>
      methodsOf(match).map((method = '*') => `${method} ${host}/${segmentsOf(path).join('/')}`),
    ),
  );
