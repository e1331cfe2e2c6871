import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import {
  encodeData,
  encodePieces,
  FrameDecoder,
  FrameError,
  inspectedBytesMax,
  logBytesMax,
  nameOf,
  objectOf,
  positiveOf,
  sandboxHeadBytesMax,
  streamWindowBytes,
  svcBytesMax,
  writePieces,
  writeValue,
  type Frame,
  type JsonFrameType,
  type JsonObject,
  type MemoryLimit,
  type RunOrder,
  type UnreadOutcome,
} from '@glovebox/sandbox';
import { ActiveRun, type RunHooks, type Server } from '../run/active-run';
import type { Bundles } from './bundles';
import { CallRefused, refusalOf, type CallAnswer } from '../run/call-refused';
import { EgressConnections, type WayOut } from '../run/egress-connections';
import { InnerProcess } from './inner-process';
import { channelOf } from './launcher';
import { Liveness } from './liveness';
import { SandboxCosts } from './sandbox-costs';
import { stepBack } from './sandbox-priority';

/** Answers and data that a sandbox may leave unread before it is ended. */
export const unreadBytesMax = 96 * 1024 * 1024;
/** The time to read what a process that has ended left in its channel. */
const lastWordsMs = 250;
const lastWords: readonly Frame['type'][] = ['LOG', 'LOADED', 'RESULT'];

/**
 * One sandboxed process, seen from outside. It is untrusted: every frame is checked, and the first
 * violation kills it. It serves one run at a time, so that a time-out, an uncaught error and a line
 * of the log always belong to one run.
 */
export class SandboxProcess {
  readonly ready: Promise<void>;
  readonly exited: Promise<void>;
  isLoaded = false;
  isDead = false;
  /** It holds values that may not go everywhere, and serves no further run. */
  isNarrowed = false;
  /** Nothing is sent to it any more. Only its last words are read. */
  private isEnding = false;

  private readonly inner: InnerProcess;
  private readonly channel: Socket;
  private readonly egress: EgressConnections;
  private readonly decoder: FrameDecoder;
  private readonly costs: SandboxCosts;
  private active: ActiveRun | undefined;
  private readonly liveness = new Liveness((id) => this.send('PING', { id }));
  /** This process as all of its runs see it. */
  private readonly server: Server;
  private lastRun = 0;
  private onFinished: ((outcome: UnreadOutcome) => void) | undefined;
  private onReady: (() => void) | undefined;
  private deathReason: string | undefined;

  constructor(
    child: ChildProcess,
    private readonly options: {
      wayOut: WayOut;
      memory: MemoryLimit;
      /** The names of the error classes, and the packages that code may require. */
      modules: { readonly errors: readonly string[]; readonly bundles: Bundles };
      /**
       * Called when this runner may not lower the priority of its sandboxes. They run all the same.
       */
      onCannotStepBack?: () => void;
      /** Gets what the process says to a debugger. Without it, the process may say nothing. */
      onInspected?: ((message: Buffer) => void) | undefined;
    },
  ) {
    this.inner = new InnerProcess(child);
    this.channel = channelOf(child);
    this.egress = new EgressConnections(options.wayOut, {
      sendEvent: (event) => this.send('STREAM', event),
      sendData: (stream, data) => {
        this.write([encodeData(stream, data)]);
        this.costs.chargeForData(data.length);
      },
    });
    this.decoder = new FrameDecoder(
      (frame) => this.onFrame(frame),
      (type) => this.valueBytesMaxOf(type),
      sandboxHeadBytesMax,
    );
    this.costs = new SandboxCosts({
      pause: () => {
        this.channel.pause();
        this.decoder.pause();
        this.egress.pause();
      },
      catchUp: () => this.decode(() => this.decoder.resume()),
      resume: () => {
        this.channel.resume();
        this.egress.resume();
      },
      signal: (signal) => this.inner.signal(signal),
    });
    this.server = {
      modules: options.modules,
      send: (type, head, value) => this.send(type, head, value),
      answer: (call, answer, sent) => this.answer(call, answer, sent),
      pause: () => this.costs.pause('calls'),
      resume: () => this.costs.resume('calls'),
      kill: (reason) => this.kill(reason),
      hearOut: () => this.hearOut(),
      finished: (outcome) => this.finished(outcome),
    };
    this.exited = new Promise((resolve) => {
      const gone = (reason: string): void => {
        this.bury(reason, options.memory);
        resolve();
      };
      child.once('exit', (code, signal) => {
        const reason = signal ?? `exit ${code}`;
        // With its last words read, the channel closes.
        if (this.active === undefined || this.channel.destroyed) return gone(reason);
        const timer = setTimeout(() => this.channel.destroy(), lastWordsMs);
        this.channel.once('close', () => {
          clearTimeout(timer);
          gone(reason);
        });
        this.hearOut();
      });
      child.once('error', ({ message }) => gone(message));
    });
    this.ready = new Promise((resolve, reject) => {
      this.onReady = resolve;
      void this.exited.then(() => reject(new Error(`the sandbox ended: ${this.deathReason}`)));
    });
    this.ready.catch(() => undefined);
    // It may start at full priority: it has no customer's code until it is ready.
    Promise.all([this.inner.named, this.ready]).then(
      () => {
        if (this.pid === undefined || this.isDead) return;
        if (!stepBack(this.pid, () => this.isDead)) this.options.onCannotStepBack?.();
      },
      () => undefined,
    );
    this.listen();
  }

  /** Runs once, and never rejects. `code` is given only to a process that is still generic. */
  execute(order: RunOrder, code: Buffer | undefined, hooks: RunHooks): Promise<UnreadOutcome> {
    if (this.isDead)
      return Promise.resolve({ kind: 'died', reason: this.deathReason ?? 'unknown' });
    return new Promise((resolve) => {
      this.onFinished = resolve;
      this.lastRun += 1;
      this.liveness.runBegins();
      this.active = new ActiveRun(this.lastRun, order, hooks, this.server);
      if (order.reach) this.narrow(order.reach);
      if (code === undefined) this.active.invoke();
      else this.active.load(code);
    });
  }

  /** Hands it a message of a debugger. */
  inspect(message: Buffer): void {
    this.send('INSPECT', {}, message);
  }

  /** What it has been given may go nowhere else, as long as it lives. */
  private narrow(reach: readonly string[]): void {
    this.isNarrowed = true;
    this.egress.narrow(reach);
  }

  private finished(outcome: UnreadOutcome): void {
    this.active = undefined;
    this.liveness.runEnds(this.lastRun);
    // No connection outlives the run that opened it.
    this.egress.closeAll(outcome.kind === 'timed_out' ? 'stopped' : 'ended');
    this.costs.startAnew();
    this.onFinished?.(outcome);
  }

  /** That of the process inside. */
  get pid(): number | undefined {
    return this.inner.pid;
  }

  get hasLeftovers(): boolean {
    return this.liveness.hasLeftovers;
  }

  /** Tells whether it may be given a run without being asked. */
  get isQuiet(): boolean {
    return this.liveness.isQuiet && !this.costs.isPausedFor('idle');
  }

  /** It has told that its last run is over, and no call of that run can set something going. */
  get isAtRest(): boolean {
    return !this.isDead && this.liveness.isAtRest;
  }

  /** Tells whether it is fit for another run after this time at the latest. */
  async comesToRest(limitMs: number): Promise<boolean> {
    return !this.isDead && this.liveness.comesToRest(limitMs);
  }

  async answersWithin(limitMs: number): Promise<boolean> {
    return !this.isDead && this.liveness.answersWithin(limitMs);
  }

  /** Stops all threads between runs, whatever the code has left behind. */
  freeze(): void {
    if (this.pid === undefined) this.kill('its process is not known');
    else this.costs.pause('idle');
  }

  /** Undoes `freeze`. False if leftovers of the code keep the process from answering. */
  async wakesWithin(limitMs: number): Promise<boolean> {
    this.costs.resume('idle');
    return this.answersWithin(limitMs);
  }

  kill(reason: string): void {
    this.deathReason ??= reason;
    this.inner.kill();
    this.bury(reason);
  }

  /**
   * Settles everything that waits for this process, at the first sign of its death. `memory`: it has
   * ended by itself.
   */
  private bury(reason: string, memory?: MemoryLimit): void {
    this.deathReason ??= reason;
    if (this.isDead) return;
    this.isDead = true;
    this.costs.end();
    this.egress.closeAll('stopped');
    this.channel.destroy();
    this.liveness.end();
    this.active?.settle({
      ...{ kind: 'died', reason: this.deathReason },
      ...(memory === undefined ? {} : { memory }),
    });
  }

  /** Reads what was written so far, also what waits behind a pause. */
  private hearOut(): void {
    this.isEnding = true;
    this.costs.end();
    this.decode(() => this.decoder.resume());
    this.channel.resume();
  }

  private listen(): void {
    this.channel.on('data', (chunk: Buffer) => this.decode(() => this.decoder.push(chunk)));
    this.channel.on('error', () => undefined);
  }

  private decode(step: () => void): void {
    try {
      step();
    } catch (error) {
      // A frame may end this process. It must never end the runner.
      const isViolation = error instanceof FrameError;
      this.kill(isViolation ? `protocol violation: ${error.message}` : 'a frame was not handled');
    }
  }

  /** Refuses a frame by its prefix alone, before it is kept in memory. */
  private valueBytesMaxOf(type: Frame['type']): number {
    switch (type) {
      case 'RESULT':
      case 'LOADED':
        return this.active?.order.resultBytesMax ?? 0;
      case 'RPC':
        return svcBytesMax;
      case 'LOG':
        return logBytesMax;
      case 'DATA':
        return streamWindowBytes;
      case 'INSPECT':
        return this.options.onInspected === undefined ? 0 : inspectedBytesMax;
      default:
        return 0;
    }
  }

  private onFrame(frame: Frame): void {
    if (this.isDead || (this.isEnding && !lastWords.includes(frame.type))) return;
    this.costs.chargeFor(frame);
    if (frame.type === 'DATA') return this.egress.onData(frame.stream, frame.data);
    const { head, value } = frame;
    switch (frame.type) {
      case 'READY':
        this.onReady?.();
        return;
      case 'PONG':
        return this.liveness.onAnswer(head);
      case 'REST':
        return this.liveness.onRest(head);
      case 'STREAM':
        return this.egress.onEvent(head);
      case 'RPC':
        return this.onCall(positiveOf(head, 'id'), nameOf(head, 'method'), head, value);
      case 'LOADED':
        return this.onLoaded(head, value);
      case 'LOG':
        return this.runOf(head).onLog(head, value);
      case 'INSPECT':
        if (!this.options.onInspected) throw new FrameError('no debugger was let in');
        return this.options.onInspected(value);
      case 'RESULT':
        if (!this.isLoaded) throw new FrameError('RESULT before LOADED');
        this.runOf(head).onResult(head, value);
        if (head['atRest'] === true) this.liveness.onRest(head);
        return;
      default:
        throw new FrameError(`a sandbox does not send ${frame.type}`);
    }
  }

  private runOf(head: JsonObject): ActiveRun {
    if (this.active === undefined || head['run'] !== this.active.id) {
      throw new FrameError('a frame for a run that is not in flight');
    }
    return this.active;
  }

  private onLoaded(head: JsonObject, value: Buffer): void {
    if (this.active === undefined || this.isLoaded) throw new FrameError('LOADED without LOAD');
    this.isLoaded = head['ok'] === true;
    this.active.onLoaded(head, value);
  }

  private onCall(id: number, method: string, head: JsonObject, params: Buffer): void {
    const run = this.active;
    this.liveness.runCalls();
    if (run !== undefined && method.startsWith('egress.')) {
      return this.answerOwn(id, this.callEgress(run, method, objectOf(head['params'], 'params')));
    }
    if (run === undefined || head['run'] !== run.id || !run.order.svc) {
      return this.answerOwn(id, Promise.reject(new CallRefused('RUN_OVER', 'The run is over')));
    }
    run.onCall(id, method, params);
  }

  private callEgress(run: ActiveRun, method: string, params: JsonObject): Promise<unknown> {
    switch (method) {
      case 'egress.open':
        return this.egress.open(run.order, params);
      case 'egress.lookup':
        return this.egress.lookUp(run.order, params);
      default:
        throw new FrameError('there is no such call');
    }
  }

  private answerOwn(id: number, result: Promise<unknown>): void {
    void result
      .then((value) => ({ ok: true, value: Buffer.from(writeValue(value)) }))
      .catch(refusalOf)
      .then((answer) => this.answer(id, answer));
  }

  private answer(id: number, { ok, value, reach }: CallAnswer, sent?: () => void): void {
    if (reach) this.narrow(reach);
    this.send('RPCRES', { id, ok }, value, sent);
  }

  private send(type: JsonFrameType, head: JsonObject, value?: Buffer, sent?: () => void): void {
    this.write(encodePieces(type, head, value), sent);
  }

  private write(frame: readonly Buffer[], sent?: () => void): void {
    if (this.isDead || this.isEnding) return;
    writePieces(this.channel, frame, sent);
    if (this.channel.writableLength > unreadBytesMax) this.kill('does not read its channel');
  }
}
