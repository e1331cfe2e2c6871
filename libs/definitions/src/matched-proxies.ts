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

/** Undefined: any. */
type Method = string | undefined;

/** A beginning of paths, with what is known of it and of those below it. */
interface PathNode {
  readonly below: Map<string, PathNode>;
  /** The store refuses two of one method. Between two changes there may be some. */
  readonly byMethod: Map<Method, ProxyDefinition[]>;
}

const newNode = (): PathNode => ({ below: new Map(), byMethod: new Map() });
const isEmpty = ({ below, byMethod }: PathNode): boolean => below.size + byMethod.size === 0;

/**
 * Finds the proxy of a request by its host, then its path, then its method: in each the most
 * specific one that fits wins. A look-up asks once for each label of the name and each segment of
 * the path, however many proxies there are, and a change as often as its match has names.
 */
export class MatchedProxies {
  /** By tenant, then by pattern of hosts: the node of the path `/`. */
  readonly #byTenant = new Map<string, Map<string, PathNode>>();

  add(proxy: ProxyDefinition): void {
    const { tenantId, match } = proxy;
    if (!match) return;
    const byHost = this.#byTenant.get(tenantId) ?? new Map<string, PathNode>();
    this.#byTenant.set(tenantId, byHost);
    const paths = pathsOf(match).map((path) => segmentsOf(path) ?? []);
    for (const host of match.hosts) {
      const root = byHost.get(host) ?? newNode();
      byHost.set(host, root);
      for (const path of paths) addAt(root, path, methodsOf(match), proxy);
    }
  }

  remove({ id, tenantId, match }: ProxyDefinition): void {
    const byHost = this.#byTenant.get(tenantId);
    if (!match || !byHost) return;
    const paths = pathsOf(match).map((path) => segmentsOf(path) ?? []);
    for (const host of match.hosts) {
      const root = byHost.get(host);
      if (!root) continue;
      for (const path of paths) removeAt(root, path, methodsOf(match), id);
      if (isEmpty(root)) byHost.delete(host);
    }
    if (byHost.size === 0) this.#byTenant.delete(tenantId);
  }

  find(tenantId: string, { hostPatterns, method, path }: ForwardedRequest) {
    const byHost = this.#byTenant.get(tenantId);
    if (!byHost) return undefined;
    const segments = hasPathParameters(path) ? undefined : segmentsOf(path);
    for (const pattern of hostPatterns) {
      const root = byHost.get(pattern);
      if (!root) continue;
      if (!segments && root.below.size > 0) throw ambiguousPath();
      const found = findBelow(root, segments ?? [], method);
      if (found) return found;
    }
    return undefined;
  }

  knows(tenantId: string, hostPatterns: readonly string[]): boolean {
    const byHost = this.#byTenant.get(tenantId);
    return byHost !== undefined && hostPatterns.some((pattern) => byHost.has(pattern));
  }
}

/** Should there be two that are alike, the same one always comes first. */
function addAt(
  root: PathNode,
  path: readonly string[],
  methods: readonly Method[],
  proxy: ProxyDefinition,
): void {
  let node = root;
  for (const segment of path) {
    const next = node.below.get(segment) ?? newNode();
    node.below.set(segment, next);
    node = next;
  }
  for (const method of methods) {
    const alike = node.byMethod.get(method);
    if (!alike) node.byMethod.set(method, [proxy]);
    else alike.splice(placeOf(alike, proxy), 0, proxy);
  }
}

function placeOf(alike: readonly ProxyDefinition[], { id }: ProxyDefinition): number {
  const at = alike.findIndex((other) => id < other.id);
  return at < 0 ? alike.length : at;
}

/** Leaves no node that nothing is known of. */
function removeAt(
  root: PathNode,
  path: readonly string[],
  methods: readonly Method[],
  id: string,
): void {
  const nodes = [root];
  for (const segment of path) {
    const next = nodes.at(-1)?.below.get(segment);
    if (!next) return;
    nodes.push(next);
  }
  const last = nodes.at(-1) ?? root;
  for (const method of methods) {
    const left = last.byMethod.get(method)?.filter((proxy) => proxy.id !== id) ?? [];
    if (left.length > 0) last.byMethod.set(method, left);
    else last.byMethod.delete(method);
  }
  for (let at = path.length; at > 0; at -= 1) {
    const [node, above] = [nodes[at], nodes[at - 1]];
    if (!node || !isEmpty(node)) return;
    above?.below.delete(path[at - 1] ?? '');
  }
}

/** Hot path. */
function findBelow(
  root: PathNode,
  segments: readonly string[],
  method: string,
): ProxyDefinition | undefined {
  let found: ProxyDefinition | undefined;
  let node: PathNode | undefined = root;
  for (let at = 0; node; at += 1) {
    const { byMethod } = node;
    found = (byMethod.get(method) ?? byMethod.get(undefined))?.[0] ?? found;
    const segment = segments[at];
    node = segment === undefined ? undefined : node.below.get(segment);
  }
  return found;
}

/**
 * True if some server drops a part of a segment: those of Java take `/v1;x` for `/v1`. However often it
 * is encoded.
 */
export const hasPathParameters = (path: string): boolean => /;|%(?:25)*3b/i.test(path);

/** One server would take it for a path that a proxy matches, and another for one that none does. */
const ambiguousPath = (): Problem =>
  new Problem('invalid_request', { detail: 'The path can be read in more than one way.' });

const pathsOf = ({ paths }: ProxyMatch): readonly string[] => (paths.length > 0 ? paths : ['/']);
const methodsOf = ({ methods }: ProxyMatch): readonly Method[] =>
  methods.length > 0 ? methods : [undefined];

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
