import { connect, type Socket } from 'node:net';
import type { RunnerAddress } from './address';
import { describeCallError } from './call-error';
import {
  encodeFrame,
  FrameDecoder,
  FrameError,
  protocolVersion,
  type Frame,
  type JsonFrameType,
  type JsonObject,
} from './frames';
import {
  parseLogLine,
  parseOutcome,
  positiveOf,
  textOf,
  type RunOrder,
  type RunOutcome,
} from './run';
import type { RunHooks } from './runner-client';

interface OpenRun {
  readonly code: string;
  readonly hooks: RunHooks;
  settle(outcome: RunOutcome): void;
}

/** Until a runner that has gone silent is given up: a little more than three heartbeats. */
const heartbeatsMissedMax = 2;
/** The runs and pings of a connection count from 1. */
const heartbeatId = Number.MAX_SAFE_INTEGER;
const keepAliveMs = 10_000;
const backOffMs = { first: 50, most: 2_000 };
const lost: RunOutcome = { kind: 'died', reason: 'runner connection lost' };
export const cancelled: RunOutcome = { kind: 'died', reason: 'cancelled' };

export interface ConnectionTimes {
  readonly connectTimeoutMs: number;
  readonly heartbeatMs: number;
  /** What a run may take beyond its own time-out: the wait for a sandbox, the way of its code. */
  readonly graceMs: number;
}

/** The connection to one runner, made when it is needed and again after it broke. */
export class RunnerConnection {
  private socket: Socket | undefined;
  private opening: Promise<boolean> | undefined;
  private readonly runs = new Map<number, OpenRun>();
  private readonly pings = new Map<number, (ready: boolean) => void>();
  private lastId = 0;
  private failures = 0;
  private notBefore = 0;
  private isClosed = false;

  constructor(
    private readonly address: RunnerAddress,
    private readonly secret: string,
    private readonly times: ConnectionTimes,
  ) {}

  /** True once the runner has accepted the secret; false at once while a failure is recent. */
  open(): Promise<boolean> {
    if (this.socket !== undefined) return Promise.resolve(true);
    if (this.isClosed || performance.now() < this.notBefore) return Promise.resolve(false);
    this.opening ??= this.establish().finally(() => (this.opening = undefined));
    return this.opening;
  }

  run(order: RunOrder, code: string, hooks: RunHooks): Promise<RunOutcome> {
    if (hooks.signal?.aborted) return Promise.resolve(cancelled);
    return new Promise((resolve) => {
      this.lastId += 1;
      const id = this.lastId;
      const stop = (outcome: RunOutcome): void => {
        this.send('CANCEL', { run: id });
        settle(outcome);
      };
      const cancel = (): void => stop(cancelled);
      const deadline = setTimeout(() => stop(lost), order.timeoutMs + this.times.graceMs);
      const settle = (outcome: RunOutcome): void => {
        clearTimeout(deadline);
        this.runs.delete(id);
        hooks.signal?.removeEventListener('abort', cancel);
        resolve(outcome);
      };
      this.runs.set(id, { code, hooks, settle });
      hooks.signal?.addEventListener('abort', cancel, { once: true });
      try {
        if (!this.send('INVOKE', { run: id, order })) settle({ kind: 'no_capacity' });
      } catch (error) {
        if (!(error instanceof FrameError)) throw error;
        settle({ kind: 'died', reason: 'the arguments are too large' });
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
      if (!this.send('PING', { id })) settle(false);
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.opening;
    this.socket?.destroy();
    this.drop(this.socket);
  }

  private establish(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.address);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, keepAliveMs);
      const timer = setTimeout(() => socket.destroy(), this.times.connectTimeoutMs);
      let heartbeat: NodeJS.Timeout | undefined;
      let missed = 0;
      const decoder = new FrameDecoder((frame) => {
        if (this.socket === socket) return this.onFrame(frame);
        if (frame.type !== 'READY' || frame.body['version'] !== protocolVersion) {
          throw new FrameError('the runner did not welcome us');
        }
        clearTimeout(timer);
        this.failures = 0;
        if (this.isClosed) socket.destroy();
        else {
          this.socket = socket;
          heartbeat = setInterval(() => {
            if (missed >= heartbeatsMissedMax) return socket.destroy();
            missed += 1;
            socket.write(encodeFrame('PING', { id: heartbeatId }));
          }, this.times.heartbeatMs);
          heartbeat.unref();
        }
        resolve(!this.isClosed);
      });
      socket.once('connect', () => {
        socket.write(encodeFrame('HELLO', { version: protocolVersion, secret: this.secret }));
      });
      socket.on('data', (chunk) => {
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
        if (this.socket === socket) this.drop(socket);
        else this.postpone();
        resolve(false);
      });
    });
  }

  private postpone(): void {
    const delay = Math.min(backOffMs.most, backOffMs.first * 2 ** this.failures);
    this.failures += 1;
    this.notBefore = performance.now() + delay;
  }

  private drop(socket: Socket | undefined): void {
    if (this.socket === socket) this.socket = undefined;
    for (const run of this.runs.values()) run.settle(lost);
    for (const settle of this.pings.values()) settle(false);
  }

  private onFrame(frame: Frame): void {
    if (frame.type === 'DATA') throw new FrameError('a runner does not send DATA');
    const { type, body } = frame;
    if (type === 'PONG') {
      this.pings.get(positiveOf(body, 'id'))?.(body['ready'] === true);
      return;
    }
    // A run that was cancelled here may still have frames on their way.
    const run = this.runs.get(positiveOf(body, 'run'));
    if (run === undefined) return;
    if (type === 'RESULT') run.settle(parseOutcome(body));
    else if (type === 'LOG') run.hooks.onLog?.(parseLogLine(body));
    else if (type === 'RPC') this.onCall(run, body);
    else throw new FrameError(`a runner does not send ${type}`);
  }

  private onCall(run: OpenRun, body: JsonObject): void {
    const id = positiveOf(body, 'id');
    const method = textOf(body, 'method');
    if (method === 'runner.code') {
      this.answer({ id, ok: true, value: run.code });
      return;
    }
    const call = async (): Promise<unknown> => run.hooks.onCall(method, body['params']);
    call().then(
      (value) => this.answer({ id, ok: true, value }),
      (error: unknown) => this.answer({ id, ok: false, error: describeCallError(error) }),
    );
  }

  private answer(body: JsonObject): void {
    try {
      this.send('RPCRES', body);
    } catch {
      const error = { message: 'The answer of the call cannot be carried.', status: 500 };
      this.send('RPCRES', { id: body['id'], ok: false, error });
    }
  }

  private send(type: JsonFrameType, body: JsonObject): boolean {
    if (this.socket === undefined) return false;
    this.socket.write(encodeFrame(type, body));
    return true;
  }
}
