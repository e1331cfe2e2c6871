import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describeCallError } from '../call-error';
import { callTooLarge, svcCallsMax, svcMembersMax } from '../call-limits';
import {
  encodeFrame,
  FrameDecoder,
  FrameError,
  leavingId,
  UnsendableFrame,
  type Frame,
  type JsonFrameType,
  type JsonObject,
} from '../frames';
import { FrameLanes } from '../frame-lanes';
import { positiveOf, textOf } from '../members';
import {
  agreedVersion,
  helloOf,
  spokenBy,
  spokenVersions,
  versionWithNetworkOff,
  versionWithReach,
  type SpokenVersions,
} from '../protocol';
import type { LargeCalls } from '../large-calls';
import type { OpenSocket } from './open-socket';
import { parseOutcome, readOutcome, type RunOutcome } from '../outcome';
import { describeRun, parseLogLine, type RunHooks, type RunRequest } from '../run';
import { readRunnerWord, type RunnerWord } from './runner-word';
import { readValue, UnreadableValue, writeValue } from '../values';

interface OpenRun {
  readonly tenantId: string;
  readonly code: RunRequest['code'];
  readonly hooks: RunHooks;
  callsOpen: number;
  /** What the runner was told last. */
  reach: readonly string[] | undefined;
  settle(outcome: RunOutcome): void;
}

interface Answer {
  readonly ok: boolean;
  /** Text that is sent as it is. */
  readonly value: string;
}

/** The frames of each tenant go in a lane, and those of the connection itself in another. */
interface Link {
  readonly socket: Socket;
  readonly lanes: FrameLanes;
  /** Zero until the runner has welcomed us. */
  version: number;
  word: RunnerWord | undefined;
}
const ownLane = '';

/** A silent runner is given up after a little more than three heartbeats. */
const missedBeatsMax = 2;
/** No run or ping gets this id: theirs count from 1. */
const heartbeatId = Number.MAX_SAFE_INTEGER;
const keepAliveMs = 10_000;
const backOffMs = { first: 50, most: 2_000 };
const lost: RunOutcome = { kind: 'died', reason: 'runner connection lost' };
export const cancelledOutcome: RunOutcome = { kind: 'died', reason: 'cancelled' };

export interface ConnectionTimes {
  readonly connectTimeoutMs: number;
  readonly heartbeatMs: number;
  /** The time beyond a run's own time-out: the wait for a sandbox, the transfer of its code. */
  readonly graceMs: number;
}

/** The connection to one runner. It is made when it is needed, and again after it broke. */
export class RunnerConnection {
  private link: Link | undefined;
  private opening: Promise<boolean> | undefined;
  private readonly runs = new Map<number, OpenRun>();
  private readonly pings = new Map<number, (ready: boolean) => void>();
  private lastId = 0;
  private failures = 0;
  private failedAt = -Infinity;
  private isClosed = false;
  private onIdle: (() => void) | undefined;
  private isForeign = false;
  private isLeaving = false;

  constructor(
    private readonly openSocket: OpenSocket,
    private readonly times: ConnectionTimes,
    private readonly largeCalls: LargeCalls,
    /** Hears once, until it succeeds, that the runner speaks none of our versions. */
    private readonly onForeign: (versions: SpokenVersions) => void,
  ) {}

  get isOpen(): boolean {
    return this.link !== undefined && !this.isLeaving;
  }

  /** Undefined while there is no connection. */
  get word(): RunnerWord | undefined {
    return this.link?.word;
  }

  /**
   * Resolves to true once the runner and this side trust each other. False at once while a failure is recent.
   */
  async open(): Promise<boolean> {
    const backOff = Math.min(backOffMs.most, backOffMs.first * 2 ** (this.failures - 1));
    return performance.now() < this.failedAt + backOff ? this.isOpen : this.openSoon();
  }

  /**
   * For a call that has no other runner: tries again after the shortest back-off, however often the
   * runner has failed. All who wait share one attempt.
   */
  async openSoon(): Promise<boolean> {
    if (this.isOpen) return true;
    if (this.isClosed || this.isLeaving) return false;
    this.opening ??= this.attempt().finally(() => (this.opening = undefined));
    return this.opening;
  }

  run(request: RunRequest, hooks: RunHooks): Promise<RunOutcome> {
    const { tenantId, code, timeoutMs } = request;
    if (hooks.signal?.aborted) return Promise.resolve(cancelledOutcome);
    if (this.isClosed || this.isLeaving || this.link?.lanes.isFull(tenantId) !== false)
      return Promise.resolve({ kind: 'no_capacity' });
    const reach = hooks.reach?.();
    if (!isSpoken(this.link.version, request, reach))
      return Promise.resolve({ kind: 'no_capacity', runtime: 'not_offered' });
    return new Promise((resolve) => {
      this.lastId += 1;
      const id = this.lastId;
      const stop = (outcome: RunOutcome): void => {
        this.send(tenantId, 'CANCEL', { run: id });
        settle(outcome);
      };
      const cancel = (): void => stop(cancelledOutcome);
      const deadline = setTimeout(() => stop(lost), timeoutMs + this.times.graceMs);
      const settle = (outcome: RunOutcome): void => {
        clearTimeout(deadline);
        this.runs.delete(id);
        hooks.signal?.removeEventListener('abort', cancel);
        resolve(outcome);
        if (this.runs.size === 0) this.rest();
      };
      this.runs.set(id, { tenantId, code, hooks, callsOpen: 0, reach, settle });
      hooks.signal?.addEventListener('abort', cancel);
      try {
        const { order, input } = describeRun(request, reach);
        this.send(tenantId, 'INVOKE', { run: id, order }, input);
      } catch (error) {
        if (!(error instanceof FrameError)) throw error;
        settle({ kind: 'args_too_large' });
      }
    });
  }

  async ping(): Promise<boolean> {
    if (!(await this.open())) return false;
    return new Promise((resolve) => {
      this.lastId += 1;
      const id = this.lastId;
      const settle = (ready: boolean): void => {
        clearTimeout(timer);
        this.pings.delete(id);
        resolve(ready);
      };
      const timer = setTimeout(() => settle(false), this.times.connectTimeoutMs);
      this.pings.set(id, settle);
      if (!this.send(ownLane, 'PING', { id })) settle(false);
    });
  }

  /** Closes when the runs under way are over. */
  async leave(): Promise<void> {
    while (this.runs.size > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
    await this.close();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.opening;
    const { link } = this;
    link?.socket.destroy();
    this.drop(link);
  }

  private async attempt(): Promise<boolean> {
    const waitMs = this.failedAt + backOffMs.first - performance.now();
    // Timers count whole milliseconds, of which the first may be over already.
    if (waitMs > 0) await delay(Math.ceil(waitMs) + 1);
    return !this.isClosed && this.establish();
  }

  private establish(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = this.openSocket((proof) => {
        socket.write(encodeFrame('HELLO', { ...helloOf(spokenVersions), ...proof }));
      });
      socket.setNoDelay(true);
      socket.setKeepAlive(true, keepAliveMs);
      const timer = setTimeout(() => socket.destroy(), this.times.connectTimeoutMs);
      const link: Link = { socket, lanes: new FrameLanes(socket), version: 0, word: undefined };
      let heartbeat: NodeJS.Timeout | undefined;
      let missed = 0;
      const decoder = new FrameDecoder((frame) => {
        if (this.link === link) return this.onFrame(frame);
        Object.assign(link, this.requireWelcome(frame));
        clearTimeout(timer);
        this.failures = 0;
        if (this.isClosed) socket.destroy();
        else {
          this.link = link;
          let beatAt = performance.now();
          heartbeat = setInterval(() => {
            const now = performance.now();
            // This process was blocked, so it has not heard the runner either.
            if (now - beatAt > 1.5 * this.times.heartbeatMs) missed = 0;
            beatAt = now;
            if (missed >= missedBeatsMax) return socket.destroy();
            missed += 1;
            this.send(ownLane, 'PING', { id: heartbeatId });
          }, this.times.heartbeatMs);
          heartbeat.unref();
        }
        resolve(!this.isClosed);
      });
      socket.on('data', (chunk) => {
        // Any byte is a sign of life: the answer may be on its way behind a large frame.
        missed = 0;
        try {
          decoder.push(chunk);
        } catch {
          socket.destroy();
        }
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearTimeout(timer);
        clearInterval(heartbeat);
        if (this.link === link) this.drop(link);
        else {
          this.failures += 1;
          this.failedAt = performance.now();
        }
        resolve(false);
      });
    });
  }

  /**
   * Returns the version to speak, and what the runner says of itself. A runner that speaks none of
   * ours answers with its own HELLO.
   */
  private requireWelcome({ type, ...frame }: Frame): Pick<Link, 'version' | 'word'> {
    const theirs = 'head' in frame ? spokenBy(frame.head) : undefined;
    const version = theirs && agreedVersion(spokenVersions, theirs);
    if (type === 'READY' && version !== undefined) {
      this.isForeign = false;
      return { version, word: 'head' in frame ? readRunnerWord(frame.head) : undefined };
    }
    if (type === 'HELLO' && theirs && !this.isForeign) {
      this.isForeign = true;
      this.onForeign(theirs);
    }
    throw new FrameError('the runner did not welcome us');
  }

  /** Nothing is under way. */
  private rest(): void {
    this.onIdle?.();
    if (this.isLeaving) this.link?.socket.destroy();
  }

  private drop(link: Link | undefined): void {
    if (this.link === link) {
      this.link = undefined;
      this.isLeaving = false;
    }
    for (const run of this.runs.values()) run.settle(lost);
    for (const settle of this.pings.values()) settle(false);
  }

  private onFrame(frame: Frame): void {
    if (frame.type === 'DATA') throw new FrameError('a runner does not send DATA');
    const { type, head, value } = frame;
    if (type === 'PONG') {
      const id = positiveOf(head, 'id');
      if (id === leavingId) {
        this.isLeaving = true;
        if (this.runs.size === 0) this.rest();
      } else this.pings.get(id)?.(head['ready'] === true);
      return;
    }
    // A run that was cancelled here may still have frames on their way.
    const id = positiveOf(head, 'run');
    const run = this.runs.get(id);
    if (run === undefined) return;
    if (type === 'RESULT') run.settle(readOutcome(parseOutcome(head, value)));
    else if (type === 'LOG') run.hooks.onLog?.(parseLogLine(head, value));
    else if (type === 'RPC') this.onCall(id, run, head, value);
    else throw new FrameError(`a runner does not send ${type}`);
  }

  private onCall(runId: number, run: OpenRun, head: JsonObject, params: Buffer): void {
    const id = positiveOf(head, 'id');
    const method = textOf(head, 'method');
    const isOver = (): boolean => this.runs.get(runId) !== run;
    void this.answerTo(run, method, params, isOver).then((answer) => {
      // Nobody waits for the answer of a call whose run is over.
      if (!isOver()) this.answer(run, id, answer);
    });
  }

  private async answerTo(
    run: OpenRun,
    method: string,
    params: Buffer,
    isOver: () => boolean,
  ): Promise<Answer> {
    if (method === 'runner.code') return codeOf(run);
    // A proper runner holds calls back. This protects against one that does not.
    if (run.callsOpen >= svcCallsMax) {
      return refused({ message: 'Too many calls at once.', status: 429 });
    }
    run.callsOpen += 1;
    try {
      const value = await this.largeCalls.inTurn(run.tenantId, params, async () => {
        // A call that waited may have nobody left to wait for it.
        if (isOver()) return undefined;
        return run.hooks.onCall(method, readValue(params, svcMembersMax));
      });
      return { ok: true, value: writeValue(value) };
    } catch (error) {
      return refused(describeRefusal(error));
    } finally {
      run.callsOpen -= 1;
    }
  }

  private answer(run: OpenRun, id: number, { ok, value }: Answer): void {
    const { tenantId } = run;
    const reach = run.hooks.reach?.();
    const isNarrower = reach !== run.reach;
    if (isNarrower && (this.link?.version ?? 0) < versionWithReach) {
      return void this.send(tenantId, 'RPCRES', { id, ok: false }, refused(unbounded).value);
    }
    run.reach = reach;
    const told = isNarrower ? { reach } : {};
    try {
      this.send(tenantId, 'RPCRES', { id, ok, ...told }, value);
    } catch {
      this.send(tenantId, 'RPCRES', { id, ok: false, ...told }, refused(uncarried).value);
    }
  }

  private send(lane: string, type: JsonFrameType, head: JsonObject, value?: string): boolean {
    if (this.link === undefined) return false;
    this.link.lanes.write(lane, encodeFrame(type, head, value));
    return true;
  }
}

/** A runner that skips what it does not know would let the code go anywhere. */
const isSpoken = (
  version: number,
  { network }: RunRequest,
  reach: readonly string[] | undefined,
): boolean =>
  (network !== false || version >= versionWithNetworkOff) &&
  (reach === undefined || version >= versionWithReach);

const unbounded = {
  message: 'The runner is of a release that cannot keep the values to their destinations.',
  status: 503,
};
/** The caller knows why its text cannot be read. */
async function codeOf({ code }: OpenRun): Promise<Answer> {
  if (typeof code === 'string') return { ok: true, value: code };
  return code().then(
    (value) => ({ ok: true, value }),
    () => refused({ message: 'The code cannot be read.', status: 503 }),
  );
}

const uncarried = { message: 'The answer of the call cannot be carried.', status: 500 };
const unreadable = { message: 'The arguments of the call cannot be read.', status: 400 };

function describeRefusal(error: unknown): JsonObject {
  if (error instanceof UnsendableFrame) return uncarried;
  if (!(error instanceof UnreadableValue)) return describeCallError(error);
  return error.reason === 'too_many' ? callTooLarge : unreadable;
}

/** An error may carry data that cannot be written. */
function refused(error: JsonObject): Answer {
  try {
    return { ok: false, value: writeValue(error) };
  } catch {
    return { ok: false, value: writeValue(uncarried) };
  }
}
