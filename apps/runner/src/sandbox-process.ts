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
  callsOpen: number;
  settle(outcome: RunOutcome): void;
  loaded(outcome: RunOutcome | undefined): void;
}

const logLinesMax = 200;
const logBytesMax = 64 * 1024;
const callsOpenMax = 256;
const unreadBytesMax = 96 * 1024 * 1024;
const frameOverheadBytes = 256;
const controlBytesMax = 4 * 1024;
/** Written as JSON, a byte of a text may become six. */
const logFrameBytesMax = 6 * logBytesMax + frameOverheadBytes;

/**
 * One sandboxed process, seen from outside. It is untrusted: whatever it says is checked, and the
 * first thing out of order kills it. It serves one run at a time, so that a time-out, an error that
 * nobody caught and a line of the log always belong to one run.
 */
export class SandboxProcess {
  readonly ready: Promise<void>;
  readonly exited: Promise<void>;
  isLoaded = false;
  isDead = false;

  private readonly channel: Socket;
  private readonly egress: EgressConnections;
  private active: ActiveRun | undefined;
  /** Whose code it runs: from its first run on, and for good. */
  private tenantId = '';
  private lastRun = 0;
  private lastPing = 0;
  private onReady: (() => void) | undefined;
  private onPong: (() => void) | undefined;
  private insidePid: number | undefined;
  private deathReason: string | undefined;

  constructor(
    private readonly child: ChildProcess,
    private readonly options: { dial: Dial; errorsModules: readonly string[] },
  ) {
    this.channel = channelOf(child);
    this.egress = new EgressConnections(options.dial, {
      sendEvent: (event) => this.send('STREAM', event),
      sendData: (stream, data) => this.write(encodeData(stream, data)),
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
    pidInside(child).then(
      (pid) => {
        this.insidePid = pid;
        if (this.isDead) this.killProcess();
      },
      () => undefined,
    );
    this.listen();
  }

  /** Runs once. `code` only for a process that is still generic. Never rejects. */
  async execute(order: RunOrder, code: string | undefined, hooks: RunHooks): Promise<RunOutcome> {
    return new Promise((resolve) => {
      this.tenantId = order.tenantId;
      this.lastRun += 1;
      const id = this.lastRun;
      const invoke = (): void => {
        const { args, configuration, svc, resultBytesMax } = order;
        sendOrSettle('INVOKE', { run: id, args, configuration, svc, resultBytesMax });
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
        callsOpen: 0,
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

  /** Whether the process still turns its event loop: one that spins between runs is of no use. */
  async answersWithin(limitMs: number): Promise<boolean> {
    if (this.isDead) return false;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), limitMs);
      this.onPong = () => {
        clearTimeout(timer);
        resolve(true);
      };
      this.lastPing += 1;
      this.send('PING', { id: this.lastPing });
    });
  }

  kill(reason: string): void {
    this.deathReason ??= reason;
    this.killProcess();
    this.bury(reason);
  }

  private killProcess(): void {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    if (this.insidePid === undefined) this.child.kill('SIGKILL');
    else killIfThere(this.insidePid);
  }

  /** From the first sign of death nothing is awaited from this process any more. */
  private bury(reason: string): void {
    this.deathReason ??= reason;
    if (this.isDead) return;
    this.isDead = true;
    this.egress.closeAll();
    this.channel.destroy();
    this.active?.settle({ kind: 'died', reason: this.deathReason });
  }

  private listen(): void {
    const decoder = new FrameDecoder(
      (frame) => this.onFrame(frame),
      (type) => this.bytesMaxOf(type),
    );
    this.channel.on('data', (chunk: Buffer) => {
      try {
        decoder.push(chunk);
      } catch (error) {
        // Whatever a frame sets off, it costs this process and never the runner.
        const isViolation = error instanceof FrameError;
        this.kill(isViolation ? `protocol violation: ${error.message}` : 'a frame was not handled');
      }
    });
    this.channel.on('error', () => undefined);
  }

  /** Refused by its header alone, before it is kept in memory. */
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
    if (frame.type === 'DATA') return this.egress.onData(frame.stream, frame.data);
    const { body } = frame;
    switch (frame.type) {
      case 'READY':
        this.onReady?.();
        return;
      case 'PONG':
        if (body['id'] === this.lastPing) this.onPong?.();
        return;
      case 'STREAM':
        return this.egress.onEvent(body);
      case 'RPC':
        return this.onCall(body);
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
    const outcome = outcomeOf(body, ['returned', 'threw', 'invalid_result']);
    if (outcome.kind === 'returned' && outcome.value !== undefined) {
      objectOf(outcome.value, 'value');
    }
    run.settle(outcome);
    if (body['last'] === true) this.kill('an error was not handled');
  }

  private onLog(run: ActiveRun, body: JsonObject): void {
    const line = parseLogLine(body);
    const bytes = Buffer.byteLength(line.text);
    if (run.linesLeft === 0 || bytes > run.bytesLeft) return;
    run.linesLeft -= 1;
    run.bytesLeft -= bytes;
    run.hooks.onLog(line);
  }

  private onCall(body: JsonObject): void {
    const id = positiveOf(body, 'id');
    const method = textOf(body, 'method');
    this.answerCall(method, body)
      .then((value) => this.send('RPCRES', { id, ok: true, value }))
      .catch((error: unknown) => this.send('RPCRES', { id, ok: false, error: describe(error) }))
      .catch(() => this.kill('a call could not be answered'));
  }

  private async answerCall(method: string, body: JsonObject): Promise<unknown> {
    if (method === 'egress.open') {
      return this.egress.open(this.tenantId, objectOf(body['params'], 'params'));
    }
    if (method === 'egress.lookup') return this.egress.lookup(objectOf(body['params'], 'params'));
    const run = this.active;
    if (run === undefined || body['run'] !== run.id || !run.order.svc) {
      throw new CallRefused('RUN_OVER', 'The run is over');
    }
    if (run.callsOpen >= callsOpenMax) {
      throw new CallRefused('TOO_MANY_CALLS', 'Too many calls at once');
    }
    run.callsOpen += 1;
    try {
      return await run.hooks.onCall(method, body['params']);
    } finally {
      run.callsOpen -= 1;
    }
  }

  private send(type: JsonFrameType, body: JsonObject): void {
    this.write(encodeFrame(type, body));
  }

  private write(frame: Buffer): void {
    if (this.isDead) return;
    this.channel.write(frame);
    if (this.channel.writableLength > unreadBytesMax) this.kill('does not read its channel');
  }
}

/** A sandbox tells what became of the code; what became of the run is not for it to say. */
function outcomeOf(body: JsonObject, kinds: readonly RunOutcome['kind'][]): RunOutcome {
  const outcome = parseOutcome(body);
  if (!kinds.includes(outcome.kind)) throw new FrameError(`a sandbox does not say ${outcome.kind}`);
  return outcome;
}

function describe(error: unknown): JsonObject {
  if (!(error instanceof CallRefused)) return describeCallError(error);
  return { message: error.message, code: error.code };
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in the meantime.
  }
}
