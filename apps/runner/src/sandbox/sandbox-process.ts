import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import {
  describeCallError,
  encodeData,
  encodeFrame,
  FrameDecoder,
  FrameError,
  frameBytesMax,
  objectOf,
  OpenCalls,
  parseLogLine,
  parseOutcome,
  positiveOf,
  streamWindowBytes,
  textOf,
  UnsendableFrame,
  type Frame,
  type JsonFrameType,
  type JsonObject,
  type LogLine,
  type RunOrder,
  type RunOutcome,
} from '@glovebox/sandbox';
import { CallRefused } from './call-refused';
import { EgressConnections, type Dial } from './egress-connections';
import { channelOf, pidInside } from './launcher';
import { SandboxCosts } from './sandbox-costs';
import { stepBack } from './sandbox-priority';

export interface RunHooks {
  onCall(method: string, params: unknown): Promise<unknown>;
  onLog(line: LogLine): void;
}

interface ActiveRun {
  readonly id: number;
  readonly order: RunOrder;
  readonly hooks: RunHooks;
  readonly timer: NodeJS.Timeout;
  linesLeft: number;
  bytesLeft: number;
  readonly calls: OpenCalls;
  /** A call above the limit of open calls. The channel is not read until there is room for it. */
  heldCall: (() => void) | undefined;
  settle(outcome: RunOutcome): void;
  loaded(outcome: RunOutcome | undefined): void;
}

const logLinesMax = 200;
const logBytesMax = 64 * 1024;
/** Answers and data that a sandbox may leave unread before it is ended. */
export const unreadBytesMax = 96 * 1024 * 1024;
const frameOverheadBytes = 256;
const controlBytesMax = 4 * 1024;

/** A byte of text may become six bytes of JSON. */
const logFrameBytesMax = 6 * logBytesMax + frameOverheadBytes;

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

  private readonly channel: Socket;
  private readonly egress: EgressConnections;
  private readonly decoder: FrameDecoder;
  private readonly costs: SandboxCosts;
  private active: ActiveRun | undefined;
  private lastRun = 0;
  private lastPing = 0;
  private onReady: (() => void) | undefined;
  private onPong: ((isInTime: boolean) => void) | undefined;
  /** The pid of the process inside, not of the program that started it. */
  pid: number | undefined;
  /** The process itself said so with its last PONG. It may lie. */
  hasLeftovers = false;
  private deathReason: string | undefined;

  constructor(
    private readonly child: ChildProcess,
    private readonly options: {
      dial: Dial;
      errorsModules: readonly string[];
      /**
       * Called when this runner may not lower the priority of its sandboxes. They run all the same.
       */
      onCannotStepBack?: () => void;
    },
  ) {
    this.channel = channelOf(child);
    this.egress = new EgressConnections(options.dial, {
      sendEvent: (event) => this.send('STREAM', event),
      sendData: (stream, data) => {
        this.write(encodeData(stream, data));
        this.costs.chargeForData(data.length);
      },
    });
    this.decoder = new FrameDecoder(
      (frame) => this.onFrame(frame),
      (type) => this.bytesMaxOf(type),
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
      signal: (signal) => this.signal(signal),
    });
    this.exited = new Promise((resolve) => {
      const gone = (reason: string): void => {
        this.bury(reason);
        resolve();
      };
      child.once('exit', (code, signal) => gone(signal ?? `exit ${code}`));
      child.once('error', () => gone('could not be started'));
    });
    this.ready = new Promise((resolve, reject) => {
      this.onReady = resolve;
      void this.exited.then(() => reject(new Error(`the sandbox ended: ${this.deathReason}`)));
    });
    this.ready.catch(() => undefined);
    const pidIsKnown = pidInside(child).then((pid) => {
      this.pid = pid ?? child.pid;
      if (this.isDead) this.killProcess();
    });
    // It may start at full priority: it has no customer's code until it is ready.
    Promise.all([pidIsKnown, this.ready]).then(
      () => {
        if (this.pid === undefined || this.isDead) return;
        if (!stepBack(this.pid, () => this.isDead)) this.options.onCannotStepBack?.();
      },
      () => undefined,
    );
    this.listen();
  }

  /** Runs once, and never rejects. `code` is given only to a process that is still generic. */
  async execute(order: RunOrder, code: string | undefined, hooks: RunHooks): Promise<RunOutcome> {
    return new Promise((resolve) => {
      this.lastRun += 1;
      const id = this.lastRun;
      const invoke = (): void => {
        const { kind, args, configuration, svc, resultBytesMax } = order;
        sendOrSettle('INVOKE', { run: id, kind, args, configuration, svc, resultBytesMax });
      };
      const sendOrSettle = (type: JsonFrameType, body: JsonObject): void => {
        try {
          this.send(type, body);
        } catch (error) {
          if (!(error instanceof UnsendableFrame)) throw error;
          settle({ kind: 'died', reason: 'the arguments are too large' });
        }
      };
      const settle = (outcome: RunOutcome): void => {
        clearTimeout(timer);
        this.active = undefined;
        // No connection outlives the run that opened it.
        this.egress.closeAll();
        this.costs.startAnew();
        resolve(outcome);
      };
      const timer = setTimeout(() => {
        settle({ kind: 'timed_out' });
        this.kill('timed out');
      }, order.timeoutMs);
      this.active = {
        id,
        order,
        hooks,
        timer,
        linesLeft: logLinesMax,
        bytesLeft: logBytesMax,
        calls: new OpenCalls(),
        heldCall: undefined,
        settle,
        loaded: (failure) => {
          if (failure !== undefined) return settle(failure);
          this.isLoaded = true;
          invoke();
        },
      };
      if (this.isDead) return settle({ kind: 'died', reason: this.deathReason ?? 'unknown' });
      if (code === undefined) return invoke();
      const { errorsModules } = this.options;
      const { resultBytesMax } = order;
      sendOrSettle('LOAD', { run: id, code, errorsModules, resultBytesMax });
    });
  }

  /** Tells whether the event loop still turns. A process that spins after a run is of no use. */
  async answersWithin(limitMs: number): Promise<boolean> {
    if (this.isDead) return false;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), limitMs);
      this.onPong = (isInTime) => {
        clearTimeout(timer);
        resolve(isInTime);
      };
      this.lastPing += 1;
      this.send('PING', { id: this.lastPing });
    });
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
    this.killProcess();
    this.bury(reason);
  }

  private killProcess(): void {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    if (!this.signal('SIGKILL')) this.child.kill('SIGKILL');
  }

  /** False if the process inside is not known. */
  private signal(signal: NodeJS.Signals): boolean {
    if (this.pid === undefined) return false;
    try {
      process.kill(this.pid, signal);
    } catch {
      // It ended by itself in the meantime.
    }
    return true;
  }

  /** Settles everything that waits for this process, at the first sign of its death. */
  private bury(reason: string): void {
    this.deathReason ??= reason;
    if (this.isDead) return;
    this.isDead = true;
    this.costs.end();
    this.egress.closeAll();
    this.channel.destroy();
    this.onPong?.(false);
    this.active?.settle({ kind: 'died', reason: this.deathReason });
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

  /** Refuses a frame by its header alone, before it is kept in memory. */
  private bytesMaxOf(type: Frame['type']): number {
    switch (type) {
      case 'RESULT':
      case 'LOADED':
        return Math.min(
          (this.active?.order.resultBytesMax ?? 0) + frameOverheadBytes,
          frameBytesMax,
        );
      case 'RPC':
        return frameBytesMax;
      case 'LOG':
        return logFrameBytesMax;
      case 'DATA':
        return streamWindowBytes + frameOverheadBytes;
      default:
        return controlBytesMax;
    }
  }

  private onFrame(frame: Frame): void {
    if (this.isDead) return;
    this.costs.chargeFor(frame);
    if (frame.type === 'DATA') return this.egress.onData(frame.stream, frame.data);
    const { body } = frame;
    switch (frame.type) {
      case 'READY':
        this.onReady?.();
        return;
      case 'PONG':
        this.hasLeftovers = body['leftovers'] === true;
        if (body['id'] === this.lastPing) this.onPong?.(true);
        return;
      case 'STREAM':
        return this.egress.onEvent(body);
      case 'RPC':
        return this.onCall(body, frame.bytes);
      case 'LOADED':
        return this.onLoaded(body);
      case 'LOG':
        return this.onLog(this.runOf(body), body);
      case 'RESULT':
        return this.onResult(this.runOf(body), body);
      default:
        throw new FrameError(`a sandbox does not send ${frame.type}`);
    }
  }

  private runOf(body: JsonObject): ActiveRun {
    if (this.active === undefined || body['run'] !== this.active.id) {
      throw new FrameError('a frame for a run that is not in flight');
    }
    return this.active;
  }

  private onLoaded(body: JsonObject): void {
    if (this.active === undefined || this.isLoaded) throw new FrameError('LOADED without LOAD');
    if (body['ok'] === true) return this.active.loaded(undefined);
    this.active.loaded(outcomeOf(body, ['threw', 'invalid_code', 'invalid_result']));
    this.kill('the code could not be loaded');
  }

  private onResult(run: ActiveRun, body: JsonObject): void {
    if (!this.isLoaded) throw new FrameError('RESULT before LOADED');
    const answers = run.order.kind === 'transform' ? (['answered'] as const) : [];
    const outcome = outcomeOf(body, ['returned', 'threw', 'invalid_result', ...answers]);
    if ('value' in outcome && outcome.value !== undefined) objectOf(outcome.value, 'value');
    run.settle(outcome);
    if (body['last'] === true) this.kill('an error was not handled');
  }

  private onLog(run: ActiveRun, body: JsonObject): void {
    const line = parseLogLine({ ...body, at: Date.now() });
    const bytes = Buffer.byteLength(line.text);
    if (run.linesLeft === 0 || bytes > run.bytesLeft) return;
    run.linesLeft -= 1;
    run.bytesLeft -= bytes;
    run.hooks.onLog(line);
  }

  private onCall(body: JsonObject, bytes: number): void {
    const id = positiveOf(body, 'id');
    const method = textOf(body, 'method');
    const run = this.active;
    const isOfRun = method.startsWith('egress.') || (body['run'] === run?.id && run?.order.svc);
    if (run === undefined || !isOfRun) {
      return this.answer(id, Promise.reject(new CallRefused('RUN_OVER', 'The run is over')));
    }
    const params = body['params'];
    if (method === 'egress.open') {
      const { tenantId } = run.order;
      return this.answer(id, this.egress.open(tenantId, objectOf(params, 'params')));
    }
    if (method === 'egress.lookup') {
      return this.answer(id, this.egress.lookup(objectOf(params, 'params')));
    }
    this.openCall(run, bytes, (closed) =>
      this.answer(id, run.hooks.onCall(method, params), closed),
    );
  }

  /** A call is open until the sandbox has its answer. A call above the limit is held back. */
  private openCall(run: ActiveRun, bytes: number, start: (closed: () => void) => void): void {
    if (!run.calls.hasRoomFor(bytes)) {
      run.heldCall = () => this.openCall(run, bytes, start);
      return this.costs.pause('calls');
    }
    run.calls.open(bytes);
    start(() => {
      run.calls.close(bytes);
      if (this.active !== run) return;
      const held = run.heldCall;
      run.heldCall = undefined;
      held?.();
      if (run.heldCall === undefined) this.costs.resume('calls');
    });
  }

  private answer(id: number, result: Promise<unknown>, sent?: () => void): void {
    result
      .then((value) => this.send('RPCRES', { id, ok: true, value }, sent))
      .catch((error: unknown) =>
        this.send('RPCRES', { id, ok: false, error: describe(error) }, sent),
      )
      .catch(() => this.kill('a call could not be answered'));
  }

  private send(type: JsonFrameType, body: JsonObject, sent?: () => void): void {
    this.write(encodeFrame(type, body), sent);
  }

  private write(frame: Buffer, sent?: () => void): void {
    if (this.isDead) return;
    this.channel.write(frame, sent);
    if (this.channel.writableLength > unreadBytesMax) this.kill('does not read its channel');
  }
}

/** A sandbox reports the outcome of its code. Only the runner may report that of the run. */
function outcomeOf(body: JsonObject, kinds: readonly RunOutcome['kind'][]): RunOutcome {
  const outcome = parseOutcome(body);
  if (!kinds.includes(outcome.kind)) throw new FrameError(`a sandbox does not say ${outcome.kind}`);
  return outcome;
}

function describe(error: unknown): JsonObject {
  if (!(error instanceof CallRefused)) return describeCallError(error);
  return { message: error.message, code: error.code };
}
