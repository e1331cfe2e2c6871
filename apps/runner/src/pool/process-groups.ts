import { processKey, type RunOrder, type Runtime, type Urgency } from '@glovebox/sandbox';
import type { Release } from '@glovebox/shares';
import type { SandboxProcess } from '../process/sandbox-process';
import { nextStates, type ProcessState } from './process-states';

/** The processes of one key, and the runs that wait for one. */
export interface ProcessGroup {
  readonly key: string;
  readonly tenantId: string;
  readonly runtime: Runtime;
  /** `isolation: "run"`: each process serves one run. */
  readonly once: boolean;
  /** Those that have not ended. */
  readonly processes: Set<PooledProcess>;
  readonly waiting: Set<WaitingRun>;
  /** Async runs that have a process or the promise of one. */
  asyncRuns: number;
  /** Adds a process for runs that have waited. */
  growth: NodeJS.Timeout | undefined;
}

/** A process of one group, from the order to start it until it is gone. */
export class PooledProcess {
  private current: ProcessState = 'starting';
  private started: { readonly sandbox: SandboxProcess; readonly at: number } | undefined;
  /** Aborted when nobody waits for its start any more. */
  readonly startTurn = new AbortController();
  /** Changes of state. Work that was begun in a state looks whether it is still the same one. */
  changes = 0;
  runs = 0;
  idleSince = 0;
  measuredAt = 0;
  /** It was asked after its run, and should have answered by now. */
  isSilent = false;
  /** Looks whether it has been idle long enough to be frozen. */
  freezing: NodeJS.Timeout | undefined;

  constructor(readonly group: ProcessGroup) {
    group.processes.add(this);
  }

  get state(): ProcessState {
    return this.current;
  }

  /** It has customers' code, and no run. */
  get isFree(): boolean {
    return this.current === 'idle' || this.current === 'frozen';
  }

  get sandbox(): SandboxProcess {
    if (this.started === undefined) throw new Error('the process has not started');
    return this.started.sandbox;
  }

  get startedAt(): number {
    return this.started?.at ?? Infinity;
  }

  hasStarted(sandbox: SandboxProcess): void {
    this.started = { sandbox, at: performance.now() };
  }

  become(next: ProcessState): void {
    if (!nextStates[this.current].includes(next)) {
      throw new Error(`a process that is ${this.current} does not become ${next}`);
    }
    this.current = next;
    this.changes += 1;
  }
}

/** A process for a run, and the right of an async run to use one. */
export interface Grant {
  readonly process: PooledProcess;
  readonly permit: Release | undefined;
}

/** A run without a process. */
export interface WaitingRun {
  readonly group: ProcessGroup;
  readonly urgency: Urgency;
  readonly since: number;
  /** Later than this it waits only for what it was promised. */
  readonly until: number;
  readonly resolve: (grant: Grant | undefined) => void;
  /** A process that is being started for it, or one that has to answer first. */
  promise: Grant | undefined;
}

export class ProcessGroups {
  private readonly groups = new Map<string, ProcessGroup>();

  groupFor(order: RunOrder): ProcessGroup {
    const once = order.isolation === 'run';
    const key = `${order.isolation} ${processKey(order)}`;
    const known = this.groups.get(key);
    if (known !== undefined) return known;
    const { tenantId, runtime } = order;
    const group: ProcessGroup = {
      ...{ key, tenantId, runtime, once, asyncRuns: 0, growth: undefined },
      processes: new Set(),
      waiting: new Set(),
    };
    this.groups.set(key, group);
    return group;
  }

  forgetIfEmpty(group: ProcessGroup): void {
    if (group.processes.size > 0 || group.waiting.size > 0) return;
    clearTimeout(group.growth);
    group.growth = undefined;
    if (this.groups.get(group.key) === group) this.groups.delete(group.key);
  }
}

/** The process without a run that was used last. The others of its group can be ended first. */
export function lastUsed({ processes }: ProcessGroup): PooledProcess | undefined {
  let last: PooledProcess | undefined;
  for (const process of processes) {
    if (process.isFree && (last === undefined || process.idleSince >= last.idleSince)) {
      last = process;
    }
  }
  return last;
}
