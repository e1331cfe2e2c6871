import type { Principal } from '@glovebox/access';
import { Problem } from '@glovebox/problems';
import type {
  ApplicationDefinition,
  Definition,
  DefinitionKind,
  DefinitionOf,
  ProxyDefinition,
} from './definition';

/** All definitions as of one version of the log. Look-ups ask nobody. */
export class DefinitionSnapshot {
  readonly #byId = new Map<string, Definition>();
  readonly #applicationByKeyHash = new Map<string, ApplicationDefinition>();
  readonly #proxyByKeyHash = new Map<string, ProxyDefinition>();
  readonly #unreadable = new Set<string>();
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
    return definition?.tenantId === tenantId ? (definition as DefinitionOf<Kind>) : undefined;
  }

  proxyByKeyHash(hash: string): ProxyDefinition | undefined {
    return this.#proxyByKeyHash.get(hash);
  }

  principalByKeyHash(hash: string): Principal | undefined {
    const application = this.#applicationByKeyHash.get(hash);
    return application && principalOf(application);
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
    if (!this.#unreadable.has(name(kind, id))) return;
    throw new Problem('service_unavailable', { retryAfterSeconds: 1 });
  }

  setUnreadable(kind: DefinitionKind, id: string): void {
    this.delete(kind, id);
    this.#unreadable.add(name(kind, id));
  }

  get size(): number {
    return this.#byId.size;
  }

  set(definition: Definition): void {
    this.delete(definition.kind, definition.id);
    this.#byId.set(name(definition.kind, definition.id), definition);
    if (definition.kind === 'proxy') this.#proxyByKeyHash.set(definition.keyHash, definition);
    if (definition.kind === 'application') {
      for (const { hash } of definition.keys) this.#applicationByKeyHash.set(hash, definition);
    }
  }

  delete(kind: DefinitionKind, id: string): void {
    this.#revision += 1;
    this.#unreadable.delete(name(kind, id));
    const definition = this.#byId.get(name(kind, id));
    if (!definition) return;
    this.#byId.delete(name(kind, id));
    if (definition.kind === 'proxy') this.#proxyByKeyHash.delete(definition.keyHash);
    if (definition.kind === 'application') {
      for (const { hash } of definition.keys) this.#applicationByKeyHash.delete(hash);
    }
  }
}

/** The principal of an application. Undefined once it has expired. */
export function principalOf(application: ApplicationDefinition): Principal | undefined {
  const { id, tenantId, type, permissions, rules, expiresAt } = application;
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return undefined;
  return { applicationId: id, tenantId, type, permissions, rules };
}

const name = (kind: DefinitionKind, id: string): string => `${kind}:${id}`;
