import { Shares, type Release } from '@glovebox/shares';
import type { Group, Waiter } from './pool-groups';

/** The groups of one tenant with runs that want a process. The first has the next turn. */
type Line = Map<Group, Set<Waiter>>;

/**
 * One waiting line for each tenant. A run stands in it until it has a process. While it has the
 * promise of one, it is not called.
 */
export class PoolLines {
  readonly places: Shares;
  /** The orders of all runs, those that have a process included. */
  readonly orderBytes = new Shares({ places: orderBytesMax });
  /** The first tenant has the next turn. */
  private readonly lines = new Map<string, Line>();
  private readonly members = new Map<Waiter, Release>();

  constructor(lengthMax: number) {
    this.places = new Shares({ places: lengthMax });
  }

  get size(): number {
    return this.members.size;
  }

  get isQuiet(): boolean {
    return this.lines.size === 0;
  }

  /** All waiting runs, those that came first in front. */
  get waiters(): Iterable<Waiter> {
    return this.members.keys();
  }

  get oldestWaitMs(): number {
    const [first] = this.members.keys();
    return first === undefined ? 0 : performance.now() - first.since;
  }

  /** False if the tenant's line is full. */
  join(waiter: Waiter): boolean {
    const { tenantId } = waiter.group;
    if (!this.places.hasRoom(tenantId)) return false;
    this.members.set(waiter, this.places.takeNow(tenantId));
    waiter.group.waiting.add(waiter);
    this.call(waiter);
    return true;
  }

  /** Lets the run be served. */
  call(waiter: Waiter): void {
    const { group } = waiter;
    const line: Line = this.lines.get(group.tenantId) ?? new Map<Group, Set<Waiter>>();
    this.lines.set(group.tenantId, line);
    line.set(group, (line.get(group) ?? new Set()).add(waiter));
  }

  /** The run has the promise of a process. */
  hold(waiter: Waiter): void {
    const { group } = waiter;
    const line = this.lines.get(group.tenantId);
    const called = line?.get(group);
    called?.delete(waiter);
    if (called?.size === 0) line?.delete(group);
    if (line?.size === 0) this.lines.delete(group.tenantId);
  }

  leave(waiter: Waiter): void {
    this.hold(waiter);
    waiter.group.waiting.delete(waiter);
    this.members.get(waiter)?.();
    this.members.delete(waiter);
  }

  called(group: Group): ReadonlySet<Waiter> {
    return this.lines.get(group.tenantId)?.get(group) ?? noWaiters;
  }

  /** The tenants in the order of their turns. The one that holds least comes first. */
  tenantsInTurn(held: (tenantId: string) => number): string[] {
    return [...this.lines.keys()]
      .map((tenantId) => ({ tenantId, held: held(tenantId) }))
      .sort((a, b) => a.held - b.held)
      .map(({ tenantId }) => tenantId);
  }

  groupsInTurn(tenantId: string): Group[] {
    return [...(this.lines.get(tenantId)?.keys() ?? [])];
  }

  /** Puts tenant and group behind the others. */
  endTurn(group: Group): void {
    const { tenantId } = group;
    const line = this.lines.get(tenantId);
    const called = line?.get(group);
    if (line === undefined) return;
    if (called !== undefined) {
      line.delete(group);
      line.set(group, called);
    }
    this.lines.delete(tenantId);
    this.lines.set(tenantId, line);
  }
}

/** Bytes of the orders, most of which are arguments, that the runner keeps at the same time. */
const orderBytesMax = 256 * 1024 * 1024;
const noWaiters: ReadonlySet<Waiter> = new Set();
