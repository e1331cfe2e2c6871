import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { KeyRing } from '@glovebox/seal';
import { openDefinition } from './codec';
import { requireProof } from './entry-proofs';
import type { Head, LogEntry, LogPart } from './log';
import { DefinitionSnapshot } from './snapshot';

/** Opening entries holds up every call of the process: not longer than this at a time. */
const sliceMs = 10;

/** This process's copy of the log, up to a version. Parts arrive from two stores, in any order. */
export class Replica {
  #snapshot = new DefinitionSnapshot();
  #head: Head | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly ring: KeyRing,
    private readonly onFault: (error: unknown) => void,
  ) {}

  get snapshot(): DefinitionSnapshot {
    return this.#snapshot;
  }

  get head(): Head | undefined {
    return this.#head;
  }

  /**
   * False: the part does not continue what is here, and nothing of it was taken; or Redis holds
   * something that proves nothing, and what stands before it was taken.
   */
  apply(part: LogPart, from: 'postgres' | 'redis'): Promise<boolean> {
    return this.#oneByOne(() => this.#apply(part, from));
  }

  /** Another database, or one that was restored to an earlier state: nothing known counts. */
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

  async #apply(part: LogPart, from: 'postgres' | 'redis'): Promise<boolean> {
    const { epoch } = part.head;
    const has = this.#head?.version ?? 0;
    if (part.after > has || (this.#head && this.#head.epoch !== epoch)) return false;
    let taken = has;
    let sliceEnds = performance.now() + sliceMs;
    for (const entry of part.entries) {
      // What was read earlier may arrive later: it must not bring an older state back.
      if (entry.version > has) {
        if (!this.#take(entry, from === 'redis' ? epoch : undefined)) {
          this.#head = { epoch, version: taken };
          return false;
        }
        taken = entry.version;
      }
      if (performance.now() < sliceEnds) continue;
      await yieldToOthers();
      sliceEnds = performance.now() + sliceMs;
    }
    this.#head = { epoch, version: Math.max(has, part.upTo) };
    return true;
  }

  /** With an epoch: from Redis, and false where the entry proves nothing. */
  #take(entry: LogEntry, epoch: string | undefined): boolean {
    const { kind, id, tenantId, payload } = entry;
    try {
      if (epoch !== undefined) requireProof(this.ring, epoch, entry);
      if (payload) {
        this.#snapshot.set(openDefinition(this.ring, { kind, id, tenantId, payload }));
      } else this.#snapshot.delete(kind, id);
    } catch (error) {
      this.onFault(error);
      if (epoch !== undefined) return false;
      // Unreadable means unknown, which is refused: one bad entry must not stop all the others.
      this.#snapshot.setUnreadable(kind, id);
    }
    return true;
  }
}
