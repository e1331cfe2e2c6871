import type { RunOrder } from '@glovebox/sandbox';
import type { Grant, Group, Groups, Member, Start, Waiter } from './pool-groups';
import type { EndReason } from './pool-ends';
import type { PoolLines } from './pool-lines';
import { asyncPartOf, type PoolRoom } from './pool-room';
import type { SandboxStock } from './sandbox-stock';
import { watchForSilence } from './silence';

export interface DispatchLimits {
  readonly processesPerKeyMax: number;
  /** A run that waits longer for a process ends with no capacity. */
  readonly queueWaitMs: number;
  /** Runs wait this long for existing processes before one more is started. */
  readonly growAfterMs: number;
}

interface Parts {
  readonly groups: Groups;
  readonly lines: PoolLines;
  readonly room: PoolRoom;
  readonly stock: SandboxStock;
  /** Takes a process back that has come out of its idle time and that no run wants any more. */
  rest(member: Member): void;
  end(member: Member, reason: EndReason): void;
  leaveIdle(member: Member): void;
}

/** An idle process that has not answered by then is ended. */
const answerLimitMs = 1_500;

/** Hands out processes to the waiting runs: idle ones, and new ones where there is room. */
export class PoolDispatch {
  /** The process that has just answered after its run. It needs not be asked again. */
  private fresh: Member | undefined;
  private willServe = false;
  private isStopped = false;

  constructor(
    private readonly limits: DispatchLimits,
    private readonly parts: Parts,
  ) {}

  /** Resolves to undefined if there is no capacity, or as soon as nobody waits for the run. */
  obtain(
    group: Group,
    { urgency, timeoutMs }: Pick<RunOrder, 'urgency' | 'timeoutMs'>,
    signal: AbortSignal,
  ): Promise<Grant | undefined> {
    return new Promise((resolve) => {
      const settle = (grant: Grant | undefined): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        resolve(grant);
      };
      const waiter: Waiter = {
        ...{ group, urgency, since: performance.now(), resolve: settle },
        ...{ isWaiting: true, isOverdue: false, isImpatient: false },
        ...{ permit: undefined, start: undefined, asked: undefined },
      };
      const giveUp = (): void => this.dismiss(waiter);
      // A thread that was kept busy reads what has come in meanwhile before it gives up.
      const timer = setTimeout(
        () => setImmediate(() => this.onOverdue(waiter)),
        Math.min(this.limits.queueWaitMs, timeoutMs),
      );
      if (this.isStopped || signal.aborted || !this.parts.lines.join(waiter)) {
        this.parts.groups.forgetIfEmpty(group);
        return settle(undefined);
      }
      signal.addEventListener('abort', giveUp, { once: true });
      this.serveGroup(group);
      this.growLater(group);
    });
  }

  /** Offers a process that has just come to rest to the runs that wait. */
  offer(member: Member): void {
    this.fresh = member;
    this.serve();
    this.fresh = undefined;
    if (member.idle === undefined) return;
    // The runs of its group may all have the promise of another process, which takes longer.
    for (const waiter of member.group.waiting) {
      if (!this.mayRun(waiter)) continue;
      this.parts.leaveIdle(member);
      return this.settle(waiter, member);
    }
  }

  /** Called whenever something has come free. */
  serveSoon(): void {
    if (this.willServe || this.parts.lines.isQuiet) return;
    this.willServe = true;
    queueMicrotask(() => {
      this.willServe = false;
      this.serve();
    });
  }

  private serve(): void {
    const { lines, room } = this.parts;
    for (let served = true; served && !lines.isQuiet && !this.isStopped;) {
      served = lines
        .tenantsInTurn((tenantId) => room.places.heldBy(tenantId))
        .some((tenantId) => lines.groupsInTurn(tenantId).some((group) => this.serveGroup(group)));
    }
  }

  /** Settles every waiting run without a process. */
  stop(): void {
    this.isStopped = true;
    for (const waiter of [...this.parts.lines.waiters]) this.dismiss(waiter);
  }

  // ---- one group ----

  private serveGroup(group: Group, mayGrow = false): boolean {
    for (const waiter of this.parts.lines.called(group)) {
      if (!this.mayRun(waiter)) continue;
      const mayStart = mayGrow || waiter.isImpatient || group.once || group.processes === 0;
      const isServed = this.giveIdle(waiter) || (mayStart && this.startFor(waiter));
      if (isServed) this.parts.lines.endTurn(group);
      return isServed;
    }
    return false;
  }

  /** Short runs share the existing processes. Only a noticeable wait starts another one. */
  private growLater(group: Group): void {
    if (group.growth !== undefined || group.processes === 0 || group.waiting.size === 0) return;
    group.growth = setTimeout(() => {
      group.growth = undefined;
      if (this.isStopped) return;
      const expected = [...group.resting].filter((member) => !member.isSilent).length;
      if (this.parts.lines.called(group).size > expected) this.serveGroup(group, true);
      this.growLater(group);
    }, this.limits.growAfterMs);
  }

  /** An async run leaves sync runs a part of all places, and of those of its group. */
  private mayRun({ urgency, permit, group }: Waiter): boolean {
    if (urgency === 'sync' || permit !== undefined) return true;
    const ofGroup = asyncPartOf(this.limits.processesPerKeyMax);
    return group.asyncRuns < ofGroup && this.parts.room.asyncRuns.hasRoom(group.tenantId);
  }

  private permit(waiter: Waiter): void {
    const { urgency, group } = waiter;
    if (urgency === 'sync' || waiter.permit !== undefined) return;
    const release = this.parts.room.asyncRuns.takeNow(group.tenantId);
    group.asyncRuns += 1;
    waiter.permit = () => {
      group.asyncRuns -= 1;
      release();
    };
  }

  // ---- idle processes ----

  private giveIdle(waiter: Waiter): boolean {
    const { group } = waiter;
    const isFresh = this.fresh?.group === group && this.fresh.idle !== undefined;
    const member = isFresh ? this.fresh : [...group.idle].at(-1);
    if (member === undefined || !this.parts.room.wake(member)) return false;
    this.parts.leaveIdle(member);
    if (isFresh || member.process.isQuiet) {
      this.settle(waiter, member);
      return true;
    }
    this.promise(waiter);
    waiter.asked = member;
    void this.ask(waiter, member);
    return true;
  }

  /** What an earlier run left behind may keep an idle process from answering. */
  private async ask(waiter: Waiter, member: Member): Promise<void> {
    const lookElsewhere = (): void => {
      waiter.isImpatient = true;
      if (waiter.asked === member) this.breakPromise(waiter);
    };
    const endWatch = watchForSilence(member.process.pid, lookElsewhere);
    const isFit = await member.process.wakesWithin(answerLimitMs);
    endWatch();
    if (!isFit) {
      this.parts.end(member, 'silent');
      lookElsewhere();
    } else if (waiter.isWaiting) this.settle(waiter, member);
    else this.parts.rest(member);
  }

  // ---- new processes ----

  private startFor(waiter: Waiter): boolean {
    const { group, since } = waiter;
    if (group.processes >= this.limits.processesPerKeyMax) return false;
    const seat = this.parts.room.seat(group.tenantId, performance.now() - since);
    if (seat === undefined) return false;
    this.promise(waiter);
    const start: Start = { turn: new AbortController(), seat, owner: waiter };
    waiter.start = start;
    group.processes += 1;
    void this.start(group, start);
    this.growLater(group);
    return true;
  }

  private async start(group: Group, start: Start): Promise<void> {
    const { stock, room } = this.parts;
    const { seat, turn } = start;
    const process = await stock
      .take(group.tenantId, group.runtime, turn.signal)
      .catch(() => undefined);
    const { owner } = start;
    if (process !== undefined && owner !== undefined) {
      owner.start = undefined;
      const startedAt = performance.now();
      const member: Member = {
        ...{ process, group, seat, startedAt, runs: 0, measuredAt: 0 },
        ...{ idle: undefined, isSilent: false, hasEnded: false },
      };
      void process.exited.then(() => {
        this.parts.end(member, 'died');
        room.gone(seat);
        this.serveSoon();
      });
      return this.settle(owner, member);
    }
    if (owner !== undefined) {
      owner.start = undefined;
      this.giveUpStart(group, start);
      this.dismiss(owner);
    }
    if (process !== undefined) await stock.giveBack(group.runtime, process);
    room.gone(seat);
    this.serveSoon();
  }

  /** Its run needs it no more: the next one gets it, or else it becomes a generic one. */
  private passOn(start: Start, group: Group): void {
    for (const waiter of this.parts.lines.called(group)) {
      if (!this.mayRun(waiter)) continue;
      this.promise(waiter);
      waiter.start = start;
      start.owner = waiter;
      return;
    }
    this.giveUpStart(group, start);
    start.turn.abort();
  }

  private giveUpStart(group: Group, start: Start): void {
    start.owner = undefined;
    group.processes -= 1;
    this.parts.room.leave(start.seat);
    this.parts.groups.forgetIfEmpty(group);
  }

  // ---- the runs that wait ----

  private promise(waiter: Waiter): void {
    this.permit(waiter);
    this.parts.lines.hold(waiter);
  }

  private breakPromise(waiter: Waiter): void {
    waiter.asked = undefined;
    if (!waiter.isWaiting) return;
    if (waiter.isOverdue) return this.dismiss(waiter);
    this.parts.lines.call(waiter);
    this.serveGroup(waiter.group);
    this.growLater(waiter.group);
  }

  private onOverdue(waiter: Waiter): void {
    waiter.isOverdue = true;
    if (waiter.start === undefined && waiter.asked === undefined) this.dismiss(waiter);
  }

  private settle(waiter: Waiter, member: Member): void {
    this.permit(waiter);
    this.leave(waiter);
    waiter.resolve({ member, permit: waiter.permit });
  }

  private dismiss(waiter: Waiter): void {
    if (!waiter.isWaiting) return;
    this.leave(waiter);
    const hadPermit = waiter.permit !== undefined;
    waiter.permit?.();
    waiter.resolve(undefined);
    this.parts.groups.forgetIfEmpty(waiter.group);
    if (hadPermit) this.serveSoon();
  }

  private leave(waiter: Waiter): void {
    const { start, group } = waiter;
    waiter.isWaiting = false;
    waiter.start = undefined;
    waiter.asked = undefined;
    this.parts.lines.leave(waiter);
    if (start !== undefined) this.passOn(start, group);
  }
}
