import type { DefinitionFollower } from './follower';

/**
 * A state that a follower may show a second after its acknowledgement, unless it shows a newer one.
 */
interface State {
  readonly version: number;
  /** Tells the states of a definition apart. Undefined: it was deleted. */
  readonly value: string | undefined;
}

const inForceAfterMs = 1_000;

/** Checks that followers show only states that were written, and none older than acknowledged. */
export class History {
  /** All states that may have been committed. */
  readonly #written = new Map<string, State[]>();
  readonly #acknowledged: { readonly id: string; readonly state: State; readonly at: number }[] =
    [];
  readonly violations: string[] = [];
  checks = 0;

  /** Called before the commit: its answer may get lost. */
  wrote(id: string, state: State): void {
    this.#written.set(id, [...(this.#written.get(id) ?? []), state]);
  }

  acknowledged(id: string, state: State): void {
    this.#acknowledged.push({ id, state, at: performance.now() });
  }

  get acknowledgements(): number {
    return this.#acknowledged.length;
  }

  /** Asks the follower as a call does, and checks the answers against the history. */
  watch(name: string, follower: DefinitionFollower, tenantId: string): () => void {
    const shown = new Map<string, string | undefined>();
    const gone = new Set<string>();
    let version = 0;
    return () => {
      const definitions = follower.fresh();
      const now = performance.now();
      const head = follower.head?.version ?? 0;
      if (head < version) this.violations.push(`${name}: went back from ${version} to ${head}`);
      version = head;
      if (!definitions) return;
      this.checks += 1;
      for (const id of this.#written.keys()) {
        const value = definitions.find('reactor', tenantId, id)?.configuration.value;
        const before = shown.get(id);
        if (before !== undefined && before !== value) gone.add(before);
        if (value !== undefined && gone.has(value)) {
          this.violations.push(`${name}: ${value} came back`);
        }
        shown.set(id, value);
        this.#checkAge(name, id, value, now);
      }
    };
  }

  #checkAge(name: string, id: string, value: string | undefined, now: number): void {
    const due = this.#acknowledged
      .filter((entry) => entry.id === id && entry.at + inForceAfterMs < now)
      .sort((one, other) => other.state.version - one.state.version)[0];
    if (!due) return;
    const possible = this.#written.get(id) ?? [];
    const fits = possible.some(
      (state) => state.value === value && state.version >= due.state.version,
    );
    if (fits) return;
    const late = Math.round(now - due.at - inForceAfterMs);
    const newest = due.state.value ?? 'the deletion';
    this.violations.push(`${name}: ${value ?? 'nothing'}, ${late} ms after ${newest} was due`);
  }
}
