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

/** Puts the state of one definition into a snapshot. */
type Taking = (snapshot: DefinitionSnapshot) => void;

/**
 * This process's copy of the log, up to a version. Parts may arrive in any order. Once it is whole, it
 * goes from one head of the log to another in one step: a call sees all that a transaction has
 * changed, or nothing of it.
 */
export class Replica {
  #snapshot = new DefinitionSnapshot();
  #head: LogHead | undefined;
  /** Nothing is served by it before. */
  #isWhole = false;
  /** The version up to which parts were taken. */
  #takenTo = 0;
  /** What was taken behind the head, and is not in the snapshot yet. */
  #staged: Taking[] = [];
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

  /** The next part goes on from here. */
  get takenTo(): number {
    return this.#takenTo;
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
      this.#isWhole = false;
      this.#takenTo = 0;
      this.#staged = [];
    });
  }

  /** Goes on in an epoch that began with all that this copy has. */
  continueIn(epoch: string): Promise<void> {
    return this.#oneByOne(async () => {
      if (this.#head) this.#head = { ...this.#head, epoch };
    });
  }

  #oneByOne<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #apply(part: LogPart): Promise<boolean> {
    const { epoch } = part.head;
    const has = this.#takenTo;
    if (part.after > has || (this.#head && this.#head.epoch !== epoch)) return false;
    let sliceEnds = performance.now() + sliceMs;
    for (const entry of part.entries) {
      // A part that was read earlier may arrive later. It must not bring an older state back.
      if (entry.version > has) this.#stage(this.#opened(entry));
      if (performance.now() < sliceEnds) continue;
      await yieldToOthers();
      sliceEnds = performance.now() + sliceMs;
    }
    this.#takenTo = Math.max(has, part.upTo);
    const isAtHead = part.upTo === part.head.version && part.upTo >= has;
    if (isAtHead || !this.#isWhole) this.#enforce(epoch);
    this.#isWhole ||= isAtHead;
    return true;
  }

  #stage(taking: Taking): void {
    if (this.#isWhole) this.#staged.push(taking);
    else taking(this.#snapshot);
  }

  /** Without a pause: opening is what takes time, and that is done. */
  #enforce(epoch: string): void {
    for (const taking of this.#staged) taking(this.#snapshot);
    this.#staged = [];
    this.#head = { epoch, version: this.#takenTo };
  }

  #opened({ kind, id, tenantId, payload }: LogEntry): Taking {
    if (!payload) return (snapshot) => snapshot.delete(kind, id);
    try {
      const definition = openDefinition(this.ring, { kind, id, tenantId, payload });
      return (snapshot) => snapshot.set(definition);
    } catch (error) {
      if (isTooNew(error)) {
        const { keyHashes, needed } = error instanceof NewerDefinition ? error : unknownFormat;
        this.#tell({ kind, id, tenantId, needed });
        return (snapshot) => snapshot.setNewer(kind, id, { tenantId, keyHashes });
      }
      this.onFault(error);
      // An unreadable entry counts as unknown, and calls to it are refused. One bad entry must not
      // stop all the others. Forward mode of its tenant does stop: nobody knows what it matches.
      return (snapshot) => snapshot.setUnreadable(kind, id, tenantId);
    }
  }

  #tell(newer: ToldNewer): void {
    const name = `${newer.kind}:${newer.id}`;
    if (this.#told.has(name) || this.#told.size >= newerToldMax) return;
    this.#told.add(name);
    this.onNewer(newer);
  }
}
