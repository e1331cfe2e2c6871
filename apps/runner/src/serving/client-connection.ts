import type { Socket } from 'node:net';
import {
  agreedVersion,
  encodePieces,
  FrameDecoder,
  FrameError,
  FrameLanes,
  leavingId,
  helloOf,
  inWords,
  objectOf,
  parseRunOrder,
  positiveOf,
  reachOf,
  spokenBy,
  spokenVersions,
  valueBytesMax,
  type Cancellation,
  type Frame,
  type JsonFrameType,
  type JsonObject,
  type RunOrder,
  type SpokenVersions,
  type UnreadOutcome,
} from '@glovebox/sandbox';
import { buildInfo, describeError } from '@glovebox/service-host';
import { CallRefused, type CallAnswer } from '../run/call-refused';
import type { RunnerContext } from '../context';
import { RunCancellation } from './run-cancellation';

interface OpenRun {
  readonly tenantId: string;
  readonly cancellation: RunCancellation;
}

interface PendingCall {
  readonly run: number;
  resolve(answer: CallAnswer): void;
  reject(error: Error): void;
}

const helloTimeoutMs = 2_000;
const codeTimeoutMs = 10_000;
/** A client pings every 3 s. One that neither sends nor reads for this long is given up. */
const clientSilenceMs = 60_000;
/** A client that hears that the runner is leaving is gone soon after its last run. */
const clientLeavesMs = 1_000;
/** The lane of the connection's own frames. Each tenant's frames have a lane of their own. */
const ownLane = '';

/** One gateway or worker process: its runs, and the calls of those runs back to it. */
export class ClientConnection {
  private isWelcome = false;
  private isDraining = false;
  private lastCall = 0;
  private readonly runs = new Map<number, OpenRun>();
  private readonly calls = new Map<number, PendingCall>();
  private readonly helloTimer: NodeJS.Timeout;
  private readonly lanes: FrameLanes;
  private onDrained: (() => void) | undefined;

  constructor(
    private readonly ctx: RunnerContext,
    private readonly socket: Socket,
    private readonly isProven: (hello: JsonObject) => boolean,
    private readonly logForeign: (theirVersions: string) => void,
  ) {
    this.helloTimer = setTimeout(() => socket.destroy(), helloTimeoutMs);
    socket.setNoDelay(true);
    this.lanes = new FrameLanes(socket);
    const decoder = new FrameDecoder(
      (frame) => this.onFrame(frame),
      () => (this.isWelcome ? valueBytesMax : 0),
    );
    socket.on('data', (chunk: Buffer) => {
      try {
        decoder.push(chunk);
      } catch (error) {
        // A frame may end this connection. It must never end the runner.
        if (error instanceof FrameError) {
          ctx.logger.warn({ reason: error.message }, 'a client broke the protocol');
        } else ctx.logger.error({ error: describeError(error) }, 'a frame was not handled');
        socket.destroy();
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => this.abandon());
  }

  /** Refuses new runs, so that the client asks another runner. Runs in flight finish. */
  async drain(): Promise<void> {
    this.isDraining = true;
    // A run that is on its way is refused as well. The client sends none behind this, and leaves.
    if (this.isWelcome) this.send(ownLane, 'PONG', { id: leavingId, ready: false });
    if (this.runs.size > 0) await new Promise<void>((resolve) => (this.onDrained = resolve));
    await this.clientLeaves();
    this.socket.once('finish', () => this.socket.destroy());
    this.lanes.end();
  }

  /** A client of the release before 0.2 stays. */
  private async clientLeaves(): Promise<void> {
    if (this.socket.destroyed || !this.isWelcome) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, clientLeavesMs);
      this.socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  private onFrame(frame: Frame): void {
    if (this.socket.destroyed) return;
    if (frame.type === 'DATA') throw new FrameError('a client does not send DATA');
    const { type, head, value } = frame;
    if (!this.isWelcome) return this.onHello(type, head);
    switch (type) {
      case 'INVOKE':
        return this.onInvoke(
          positiveOf(head, 'run'),
          parseRunOrder(objectOf(head['order'], 'order'), value),
        );
      case 'CANCEL':
        this.runs.get(positiveOf(head, 'run'))?.cancellation.cancel();
        return;
      case 'RPCRES':
        return this.onAnswer(positiveOf(head, 'id'), {
          ok: head['ok'] === true,
          value,
          reach: reachOf(head),
        });
      case 'PING':
        return this.send(ownLane, 'PONG', {
          id: positiveOf(head, 'id'),
          ready: !this.isDraining && this.ctx.isReady(),
        });
      default:
        throw new FrameError(`a client does not send ${type}`);
    }
  }

  private onHello(type: JsonFrameType, head: JsonObject): void {
    if (type !== 'HELLO' || !this.isProven(head)) {
      throw new FrameError('the secret is missing or wrong');
    }
    const theirs = spokenBy(head);
    const version = theirs && agreedVersion(spokenVersions, theirs);
    if (version === undefined) return this.refuse(theirs);
    clearTimeout(this.helloTimer);
    this.isWelcome = true;
    this.socket.setTimeout(clientSilenceMs, () => this.socket.destroy());
    const { id, level } = this.ctx;
    this.send(ownLane, 'READY', { version, id, release: buildInfo.version, level });
  }

  /** A client of another release learns why, and which versions it would have to speak. */
  private refuse(theirs: SpokenVersions | undefined): void {
    this.logForeign(theirs ? inWords(theirs) : 'unknown');
    this.send(ownLane, 'HELLO', helloOf(spokenVersions));
    this.socket.once('finish', () => this.socket.destroy());
    this.socket.pause();
    this.lanes.end();
  }

  private onInvoke(run: number, order: RunOrder): void {
    if (this.runs.has(run)) throw new FrameError('a run is in flight already');
    const { tenantId } = order;
    // A client that does not read what its runs say gets no more of it.
    if (this.isDraining || this.lanes.isFull(tenantId)) {
      return this.send(tenantId, 'RESULT', { run, kind: 'no_capacity' });
    }
    const cancellation = new RunCancellation();
    this.runs.set(run, { tenantId, cancellation });
    void this.carryOut(run, order, cancellation);
  }

  private async carryOut(run: number, order: RunOrder, signal: Cancellation): Promise<void> {
    let outcome: UnreadOutcome;
    try {
      outcome = await this.execute(run, order, signal);
    } catch (error) {
      this.ctx.logger.error({ error: describeError(error) }, 'a run failed in the runner');
      outcome = { kind: 'died', reason: 'the runner failed' };
    }
    this.finish(run, order.tenantId, outcome);
  }

  private async execute(
    run: number,
    order: RunOrder,
    signal: Cancellation,
  ): Promise<UnreadOutcome> {
    const startedAt = performance.now();
    const { runtimes } = this.ctx;
    if (!runtimes.isInstalled(order.runtime)) {
      const refusal = await runtimes.obtain(order, signal);
      if (refusal !== undefined) return { kind: 'no_capacity', runtime: refusal };
    }
    const asked = {
      ...{ order, signal },
      fetchCode: () => this.fetchCode(run, order.tenantId),
      hooks: {
        onCall: (method: string, params: Buffer) => this.call(run, order.tenantId, method, params),
        onLog: (line: object, text: Buffer) =>
          this.send(order.tenantId, 'LOG', { run, ...line }, text),
      },
    };
    if (order.inspection !== undefined) {
      const { inspections } = this.ctx;
      if (inspections === undefined) return { kind: 'no_capacity', inspector: 'off' };
      return inspections.run(asked, order.inspection);
    }
    const outcome = await this.ctx.pool.run(asked);
    this.ctx.metrics.observeRun(order.runtime, outcome.kind, performance.now() - startedAt);
    return outcome;
  }

  private finish(run: number, lane: string, outcome: UnreadOutcome): void {
    this.runs.delete(run);
    for (const [id, call] of this.calls) {
      if (call.run !== run) continue;
      this.calls.delete(id);
      call.reject(new CallRefused('RUN_OVER', 'The run is over'));
    }
    if ('value' in outcome) {
      const { kind, queuedMs, value } = outcome;
      this.send(lane, 'RESULT', { run, kind, queuedMs }, value);
    } else this.send(lane, 'RESULT', { run, ...outcome });
    if (this.runs.size === 0) this.onDrained?.();
  }

  // ---- calls back to the client ----

  private call(run: number, lane: string, method: string, params?: Buffer): Promise<CallAnswer> {
    return new Promise((resolve, reject) => {
      this.lastCall += 1;
      this.send(lane, 'RPC', { id: this.lastCall, run, method }, params);
      this.calls.set(this.lastCall, { run, resolve, reject });
    });
  }

  private async fetchCode(run: number, lane: string): Promise<Buffer> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the code did not arrive')), codeTimeoutMs);
    });
    try {
      const code = await Promise.race([this.call(run, lane, 'runner.code'), late]);
      if (!code.ok) throw new Error('the client has no code');
      return code.value;
    } finally {
      clearTimeout(timer);
    }
  }

  private onAnswer(id: number, answer: CallAnswer): void {
    this.calls.get(id)?.resolve(answer);
    this.calls.delete(id);
  }

  /** Ends the runs of a client that is gone: nobody waits for them. */
  private abandon(): void {
    clearTimeout(this.helloTimer);
    for (const { cancellation } of this.runs.values()) cancellation.cancel();
    for (const call of this.calls.values()) call.reject(new Error('the client is gone'));
    this.calls.clear();
  }

  /** Drops nothing. One tenant's large frames do not end the runs of others. */
  private send(lane: string, type: JsonFrameType, head: JsonObject, value?: Buffer): void {
    if (this.socket.destroyed) return;
    this.lanes.write(lane, ...encodePieces(type, head, value));
  }
}
