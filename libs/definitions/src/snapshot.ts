import type { Principal } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import type {
  ApplicationDefinition,
  CaptureDefinition,
  Definition,
  DefinitionKind,
  DefinitionOf,
  ProxyDefinition,
} from './definition';
import { ListedOrigins } from './listed-origins';
import { MatchedProxies, type ForwardedRequest } from './matched-proxies';

/** What is known of a definition that needs a newer reader. */
interface NewerEntry {
  readonly tenantId: string;
  readonly keyHashes: readonly string[];
}

/**
 * All definitions as of one version of the log. Look-ups ask nobody. One that finds a definition of
 * a newer release throws `newer_definition`: an older process must neither use a part of it nor
 * take it for missing (docs/adr/0083).
 */
export class DefinitionSnapshot {
  readonly #byId = new Map<string, Definition>();
  readonly #applicationByKeyHash = new Map<string, ApplicationDefinition>();
  readonly #proxyByKeyHash = new Map<string, ProxyDefinition>();
  readonly #captureOfProxy = new Map<string, CaptureDefinition>();
  readonly #matchedProxies = new MatchedProxies();
  readonly #originsOfApplications = new ListedOrigins(hasExpired);
  readonly #originsOfProxies = new ListedOrigins(() => false);
  /** The tenant of each definition that this process cannot open. */
  readonly #unreadable = new Map<string, string>();
  /** The definitions that this process is too old for, as far as it can recognise them. */
  readonly #newerById = new Map<string, NewerEntry>();
  readonly #newerKeyHashes = new Set<string>();
  /** By tenant, then by id: the refusal of each proxy whose match is not known. */
  readonly #unmatchedProxies = new Map<string, Map<string, () => Problem>>();
  #revision = 0;

  /** While this stays the same, look-ups answer as before, except that applications expire. */
  get revision(): number {
    return this.#revision;
  }

  find<Kind extends DefinitionKind>(
    kind: Kind,
    tenantId: string,
    id: string,
  ): DefinitionOf<Kind> | undefined {
    const definition = this.#byId.get(name(kind, id));
    if (definition?.tenantId === tenantId) return definition as DefinitionOf<Kind>;
    if (this.#newerById.get(name(kind, id))?.tenantId === tenantId) throw tooOldFor(kind);
    return undefined;
  }

  proxyByKeyHash(hash: string): ProxyDefinition | undefined {
    const proxy = this.#proxyByKeyHash.get(hash);
    if (!proxy && this.#newerKeyHashes.has(hash)) throw tooOldFor('proxy');
    return proxy;
  }

  /** The tenant's proxy that handles a request of forward mode: the most specific one. Hot path. */
  proxyFor(tenantId: string, request: ForwardedRequest): ProxyDefinition | undefined {
    this.#requireMatches(tenantId);
    return this.#matchedProxies.find(tenantId, request);
  }

  /** Whether some request to these hosts would have a proxy. */
  hasProxyFor(tenantId: string, hostPatterns: readonly string[]): boolean {
    this.#requireMatches(tenantId);
    return this.#matchedProxies.knows(tenantId, hostPatterns);
  }

  /** A proxy that nobody can read here may be the one that matches, with its steps and its `scrub`. */
  #requireMatches(tenantId: string): void {
    const [refusal] = this.#unmatchedProxies.get(tenantId)?.values() ?? [];
    if (refusal) throw refusal();
  }

  /**
   * What is kept of a proxy's calls, also where its time is over. A definition of a newer release
   * counts as none: it must not keep calls from being served. Hot path.
   */
  captureOf(proxyId: string): CaptureDefinition | undefined {
    return this.#captureOfProxy.get(proxyId);
  }

  principalByKeyHash(hash: string): Principal | undefined {
    const application = this.#applicationByKeyHash.get(hash);
    if (!application && this.#newerKeyHashes.has(hash)) throw tooOldFor('application');
    return application && principalOf(application);
  }

  /** Whether a public application that has not expired lists the origin. */
  isOriginOfApplication(origin: string): boolean {
    return this.#originsOfApplications.has(origin);
  }

  /** Whether a proxy that admits anonymous callers lists the origin. */
  isOriginOfProxy(origin: string): boolean {
    return this.#originsOfProxies.has(origin);
  }

  /** An application as it acts now. Undefined where it is gone or has expired. */
  principal(tenantId: string, applicationId: string): Principal | undefined {
    const application = this.find('application', tenantId, applicationId);
    return application && principalOf(application);
  }

  /**
   * A call to an unknown definition and to one that this process cannot open is refused alike. A
   * verdict that lasts (a run that fails, a webhook that is given up) must not rest on the second.
   */
  requireReadable(kind: DefinitionKind, id: string): void {
    if (this.#unreadable.has(name(kind, id))) throw unreadable();
  }

  setUnreadable(kind: DefinitionKind, id: string, tenantId: string): void {
    this.delete(kind, id);
    this.#unreadable.set(name(kind, id), tenantId);
    if (kind === 'proxy') this.#addUnmatched(tenantId, id, unreadable);
  }

  setNewer(kind: DefinitionKind, id: string, newer: NewerEntry): void {
    this.delete(kind, id);
    this.#newerById.set(name(kind, id), newer);
    for (const hash of newer.keyHashes) this.#newerKeyHashes.add(hash);
    if (kind === 'proxy') this.#addUnmatched(newer.tenantId, id, () => tooOldFor('proxy'));
  }

  #addUnmatched(tenantId: string, id: string, refusal: () => Problem): void {
    const ofTenant = this.#unmatchedProxies.get(tenantId) ?? new Map<string, () => Problem>();
    this.#unmatchedProxies.set(tenantId, ofTenant.set(id, refusal));
  }

  #removeUnmatched(tenantId: string, id: string): void {
    const ofTenant = this.#unmatchedProxies.get(tenantId);
    ofTenant?.delete(id);
    if (ofTenant?.size === 0) this.#unmatchedProxies.delete(tenantId);
  }

  get size(): number {
    return this.#byId.size;
  }

  /** How many definitions this process is too old for. */
  get newer(): number {
    return this.#newerById.size;
  }

  set(definition: Definition): void {
    this.delete(definition.kind, definition.id);
    this.#byId.set(name(definition.kind, definition.id), definition);
    if (definition.kind === 'proxy') {
      this.#proxyByKeyHash.set(definition.keyHash, definition);
      this.#originsOfProxies.add(definition);
      this.#matchedProxies.add(definition);
    }
    if (definition.kind === 'capture') this.#captureOfProxy.set(definition.id, definition);
    if (definition.kind === 'application') {
      this.#originsOfApplications.add(definition);
      for (const { hash } of definition.keys) this.#applicationByKeyHash.set(hash, definition);
    }
  }

  delete(kind: DefinitionKind, id: string): void {
    this.#revision += 1;
    const newer = this.#newerById.get(name(kind, id));
    const tenantId = newer?.tenantId ?? this.#unreadable.get(name(kind, id));
    if (kind === 'proxy' && tenantId !== undefined) this.#removeUnmatched(tenantId, id);
    this.#unreadable.delete(name(kind, id));
    this.#newerById.delete(name(kind, id));
    for (const hash of newer?.keyHashes ?? []) this.#newerKeyHashes.delete(hash);
    const definition = this.#byId.get(name(kind, id));
    if (!definition) return;
    this.#byId.delete(name(kind, id));
    if (definition.kind === 'proxy') {
      this.#proxyByKeyHash.delete(definition.keyHash);
      this.#originsOfProxies.remove(definition);
      this.#matchedProxies.remove(definition);
    }
    if (definition.kind === 'capture') this.#captureOfProxy.delete(id);
    if (definition.kind === 'application') {
      this.#originsOfApplications.remove(definition);
      for (const { hash } of definition.keys) this.#applicationByKeyHash.delete(hash);
    }
  }
}

/** The principal of an application. Undefined once it has expired. */
export function principalOf(application: ApplicationDefinition): Principal | undefined {
  if (hasExpired(application)) return undefined;
  const { id, tenantId, type, permissions, rules } = application;
  return { actorId: id, tenantId, type, permissions, rules };
}

/** The refusal of what needs a definition that this process is too old for. */
export const tooOldFor = (kind: DefinitionKind): Problem =>
  new Problem('newer_definition', {
    detail: `This process is older than the release that wrote the ${kind}.`,
    retryAfterSeconds: 1,
  });

const unreadable = (): Problem => new Problem('service_unavailable', { retryAfterSeconds: 1 });

const hasExpired = ({ expiresAt }: ApplicationDefinition): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= Date.now();

const name = (kind: DefinitionKind, id: string): string => `${kind}:${id}`;
