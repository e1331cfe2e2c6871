import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { KeyRing } from '@glovebox/seal';
import { isTooNew, NewerDefinition, openDefinition } from './codec';
import type { DefinitionKind } from './definition';
import type { LogEntry, LogHead, LogPart } from './log';
import { DefinitionSnapshot } from './snapshot';

/** Opening entries holds up every call of the process. Each slice is at most this long. */
const sliceMs = 10;

/** So many definitions are told of, each once in the life of a process. The metric counts them all. */
export const newerToldMax = 100;

/** Nothing of what is sealed in a newer format can be read, the hashes of its keys among it. */
const unknownFormat = { keyHashes: [], needed: null };

/** A definition that this process is too old for. */
export interface ToldNewer {
  readonly kind: DefinitionKind;
  readonly id: string;
  readonly tenantId: string;
  /** The version of a reader that it needs, as far as that is known. */
  readonly needed: number | null;
}

/** This process's copy of the log, up to a version. Parts may arrive in any order. */
export class Replica {
  #snapshot = new DefinitionSnapshot();
  #head: LogHead | undefined;
  #last: Promise<unknown> = Promise.resolve();
  readonly #told = new Set<string>();

  constructor(
    private readonly ring: KeyRing,
    private readonly onFault: (error: unknown) => void,
    private readonly onNewer: (newer: ToldNewer) => void = () => undefined,
  ) {}

  get snapshot(): DefinitionSnapshot {
    return this.#snapshot;
  }

  get head(): LogHead | undefined {
    return this.#head;
  }

  /** Returns false if the part does not continue this copy: nothing of it was taken. */
  apply(part: LogPart): Promise<boolean> {
    return this.#oneByOne(() => this.#apply(part));
  }

  /** Forgets everything: it is another database, or one that was restored to an earlier state. */
  forget(): Promise<void> {
    return this.#oneByOne(async () => {
      this.#snapshot = new DefinitionSnapshot();
      this.#head = undefined;
    });
  }

  #oneByOne<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #apply(part: LogPart): Promise<boolean> {
    const { epoch } = part.head;
    const has = this.#head?.version ?? 0;
    if (part.after > has || (this.#head && this.#head.epoch !== epoch)) return false;
    let sliceEnds = performance.now() + sliceMs;
    for (const entry of part.entries) {
      // A part that was read earlier may arrive later. It must not bring an older state back.
      if (entry.version > has) this.#take(entry);
      if (performance.now() < sliceEnds) continue;
      await yieldToOthers();
      sliceEnds = performance.now() + sliceMs;
    }
    this.#head = { epoch, version: Math.max(has, part.upTo) };
    return true;
  }

  #take({ kind, id, tenantId, payload }: LogEntry): void {
    if (!payload) return this.#snapshot.delete(kind, id);
    try {
      this.#snapshot.set(openDefinition(this.ring, { kind, id, tenantId, payload }));
    } catch (error) {
      if (isTooNew(error)) {
        const { keyHashes, needed } = error instanceof NewerDefinition ? error : unknownFormat;
        this.#snapshot.setNewer(kind, id, { tenantId, keyHashes });
        return this.#tell({ kind, id, tenantId, needed });
      }
      this.onFault(error);
      // An unreadable entry counts as unknown, and calls to it are refused. One bad entry must not
      // stop all the others.
      this.#snapshot.setUnreadable(kind, id);
    }
  }

  #tell(newer: ToldNewer): void {
    const name = `${newer.kind}:${newer.id}`;
    if (this.#told.has(name) || this.#told.size >= newerToldMax) return;
    this.#told.add(name);
    this.onNewer(newer);
  }
}
