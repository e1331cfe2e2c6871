import { Shares } from '@glovebox/shares';
import type { ProcessGroup, WaitingRun } from './process-groups';

/** The groups of one tenant with runs that want a process. The first has the next turn. */
type TenantLine = Map<ProcessGroup, Set<WaitingRun>>;

/** Bytes of the orders, most of which are arguments, that the runner keeps at the same time. */
const orderBytesMax = 256 * 1024 * 1024;
const noRuns: ReadonlySet<WaitingRun> = new Set();

/**
 * One waiting line for each tenant. A run stands in it until it has a process. While it has the
 * promise of one, it is not called.
 */
export class WaitingLine {
  readonly places: Shares;
  /** The orders of all runs, those that have a process included. */
  readonly orderBytes = new Shares({ places: orderBytesMax });
  /** All waiting runs, those that came first in front. */
  readonly runs = new Set<WaitingRun>();
  /** The first tenant has the next turn. */
  private readonly tenants = new Map<string, TenantLine>();

  constructor(lengthMax: number) {
    this.places = new Shares({ places: lengthMax });
  }

  /** No run wants a process. */
  get isQuiet(): boolean {
    return this.tenants.size === 0;
  }

  get oldestWaitMs(): number {
    const [first] = this.runs;
    return first === undefined ? 0 : performance.now() - first.since;
  }

  /** False if the tenant's line is full. */
  join(run: WaitingRun): boolean {
    const { tenantId } = run.group;
    if (!this.places.hasRoom(tenantId)) return false;
    this.places.enter(tenantId);
    this.runs.add(run);
    run.group.waiting.add(run);
    this.call(run);
    return true;
  }

  /** Lets the run be served. */
  call(run: WaitingRun): void {
    const { group } = run;
    const line: TenantLine = this.tenants.get(group.tenantId) ?? new Map();
    this.tenants.set(group.tenantId, line);
    line.set(group, (line.get(group) ?? new Set<WaitingRun>()).add(run));
  }

  /** The run has the promise of a process. */
  hold(run: WaitingRun): void {
    const { group } = run;
    const line = this.tenants.get(group.tenantId);
    const called = line?.get(group);
    called?.delete(run);
    if (called?.size === 0) line?.delete(group);
    if (line?.size === 0) this.tenants.delete(group.tenantId);
  }

  leave(run: WaitingRun): void {
    this.hold(run);
    run.group.waiting.delete(run);
    if (this.runs.delete(run)) this.places.leave(run.group.tenantId);
  }

  called(group: ProcessGroup): ReadonlySet<WaitingRun> {
    return this.tenants.get(group.tenantId)?.get(group) ?? noRuns;
  }

  /** The groups in the order of their turns. Those of the tenant that holds least come first. */
  *groupsInTurn(held: (tenantId: string) => number): Generator<ProcessGroup> {
    const tenants = [...this.tenants.keys()]
      .map((tenantId) => ({ tenantId, held: held(tenantId) }))
      .sort((a, b) => a.held - b.held);
    for (const { tenantId } of tenants) yield* [...(this.tenants.get(tenantId)?.keys() ?? [])];
  }

  /** Puts tenant and group behind the others. */
  endTurn(group: ProcessGroup): void {
    const { tenantId } = group;
    const line = this.tenants.get(tenantId);
    if (line === undefined) return;
    const called = line.get(group);
    if (called !== undefined) {
      line.delete(group);
      line.set(group, called);
    }
    this.tenants.delete(tenantId);
    this.tenants.set(tenantId, line);
  }
}
