interface Listing {
  readonly allowedOrigins: readonly string[];
}

/**
 * The origins that definitions list. A look-up costs the same however many list them: what has
 * expired is forgotten when a look-up meets it, and comes back only with a new definition.
 */
export class ListedOrigins<Lister extends Listing> {
  /** Most origins have one lister, which takes no room beside its entry. */
  readonly #listers = new Map<string, Lister | Set<Lister>>();

  constructor(private readonly hasExpired: (lister: Lister) => boolean) {}

  add(lister: Lister): void {
    for (const origin of lister.allowedOrigins) {
      const others = this.#listers.get(origin);
      if (others instanceof Set) others.add(lister);
      else this.#listers.set(origin, others ? new Set([others, lister]) : lister);
    }
  }

  remove(lister: Lister): void {
    for (const origin of lister.allowedOrigins) {
      const listers = this.#listers.get(origin);
      if (listers instanceof Set) listers.delete(lister);
      if (listers === lister || (listers instanceof Set && listers.size === 0)) {
        this.#listers.delete(origin);
      }
    }
  }

  has(origin: string): boolean {
    const listers = this.#listers.get(origin);
    if (listers === undefined) return false;
    for (const lister of listers instanceof Set ? listers : [listers]) {
      if (!this.hasExpired(lister)) return true;
      if (listers instanceof Set) listers.delete(lister);
    }
    this.#listers.delete(origin);
    return false;
  }
}
