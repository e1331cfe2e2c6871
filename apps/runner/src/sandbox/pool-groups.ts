import { processKey, type RunOrder, type Runtime, type Urgency } from '@glovebox/sandbox';
import type { Release } from '@glovebox/shares';
import type { Seat } from './pool-room';
import type { SandboxProcess } from './sandbox-process';

/** A process of one group, from the moment when it is ready for the code. */
export interface Member {
  readonly process: SandboxProcess;
  readonly group: Group;
  readonly seat: Seat;
  readonly startedAt: number;
  runs: number;
  measuredAt: number;
  /** It was asked after its run, and should have answered by now. */
  isSilent: boolean;
  idle: Idle | undefined;
  hasEnded: boolean;
}

interface Idle {
  readonly since: number;
  /** The next step to the frozen state. */
  timer: NodeJS.Timeout | undefined;
}

/** A process that is being started. `owner` is the run that gets it; undefined: nobody waits. */
export interface Start {
  readonly turn: AbortController;
  readonly seat: Seat;
  owner: Waiter | undefined;
}

/** What a run gets: a process, and the right of an async run to use one. */
export interface Grant {
  readonly member: Member;
  readonly permit: Release | undefined;
}

/** A run without a process. */
export interface Waiter {
  readonly group: Group;
  readonly urgency: Urgency;
  readonly since: number;
  readonly resolve: (grant: Grant | undefined) => void;
  isWaiting: boolean;
  /** It has waited long enough, and now waits only for what it was promised. */
  isOverdue: boolean;
  /** An idle process did not answer at once, so another one is started for it. */
  isImpatient: boolean;
  permit: Release | undefined;
  /** The promises: a process that is being started, or an idle one that has to answer. */
  start: Start | undefined;
  asked: Member | undefined;
}

/** The processes of one key, and the runs that wait for one. */
export interface Group {
  readonly key: string;
  readonly tenantId: string;
  readonly runtime: Runtime;
  /** `isolation: "run"`: each process serves one run. */
  readonly once: boolean;
  /** Processes, those that are being started included. */
  processes: number;
  /** Async runs that have a process or the promise of one. */
  asyncRuns: number;
  /** Processes whose run is over, and that are not yet known to be fit for another one. */
  readonly resting: Set<Member>;
  /** The one that was used last comes last. */
  readonly idle: Set<Member>;
  readonly waiting: Set<Waiter>;
  growth: NodeJS.Timeout | undefined;
}

export class Groups {
  private readonly groups = new Map<string, Group>();

  of(order: RunOrder): Group {
    const once = order.isolation === 'run';
    const key = `${order.isolation} ${processKey(order)}`;
    const known = this.groups.get(key);
    if (known !== undefined) return known;
    const { tenantId, runtime } = order;
    const group: Group = {
      ...{ key, tenantId, runtime, once, processes: 0, asyncRuns: 0 },
      resting: new Set(),
      idle: new Set(),
      waiting: new Set(),
      growth: undefined,
    };
    this.groups.set(key, group);
    return group;
  }

  forgetIfEmpty(group: Group): void {
    if (group.processes > 0 || group.waiting.size > 0) return;
    clearTimeout(group.growth);
    group.growth = undefined;
    if (this.groups.get(group.key) === group) this.groups.delete(group.key);
  }

  [Symbol.iterator](): IterableIterator<Group> {
    return this.groups.values();
  }
}
