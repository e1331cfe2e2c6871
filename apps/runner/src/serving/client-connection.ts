import type { Socket } from 'node:net';
import {
  encodeFrame,
  FrameDecoder,
  FrameError,
  FrameLanes,
  frameBytesMax,
  objectOf,
  parseCallError,
  parseRunOrder,
  positiveOf,
  protocolVersion,
  textOf,
  UnsendableFrame,
  type Frame,
  type JsonFrameType,
  type JsonObject,
  type RunOrder,
  type RunOutcome,
} from '@glovebox/sandbox';
import { describeError } from '@glovebox/service-host';
import { CallRefused } from '../sandbox/call-refused';
import type { RunnerContext } from '../context';

interface OpenRun {
  readonly tenantId: string;
  readonly abort: AbortController;
}

interface PendingCall {
  readonly run: number;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const helloTimeoutMs = 2_000;
const helloBytesMax = 4 * 1024;
const codeTimeoutMs = 10_000;
/** A client pings every 3 s. One that neither sends nor reads for this long is given up. */
const clientSilenceMs = 60_000;
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
    private readonly isSecret: (text: string) => boolean,
  ) {
    this.helloTimer = setTimeout(() => socket.destroy(), helloTimeoutMs);
    socket.setNoDelay(true);
    this.lanes = new FrameLanes(socket);
    const decoder = new FrameDecoder(
      (frame) => this.onFrame(frame),
      () => (this.isWelcome ? frameBytesMax : helloBytesMax),
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
    if (this.runs.size > 0) await new Promise<void>((resolve) => (this.onDrained = resolve));
    this.socket.once('finish', () => this.socket.destroy());
    this.lanes.end();
  }

  private onFrame(frame: Frame): void {
    if (this.socket.destroyed) return;
    if (frame.type === 'DATA') throw new FrameError('a client does not send DATA');
    const { type, body } = frame;
    if (!this.isWelcome) return this.onHello(type, body);
    switch (type) {
      case 'INVOKE':
        return this.onInvoke(
          positiveOf(body, 'run'),
          parseRunOrder(objectOf(body['order'], 'order')),
          frame.bytes,
        );
      case 'CANCEL':
        this.runs.get(positiveOf(body, 'run'))?.abort.abort();
        return;
      case 'RPCRES':
        return this.onAnswer(body);
      case 'PING':
        return this.send(ownLane, 'PONG', {
          id: body['id'],
          ready: !this.isDraining && this.ctx.isReady(),
        });
      default:
        throw new FrameError(`a client does not send ${type}`);
    }
  }

  private onHello(type: JsonFrameType, body: JsonObject): void {
    const isRight = this.isSecret(type === 'HELLO' ? textOf(body, 'secret') : '');
    if (!isRight) throw new FrameError('the secret is missing or wrong');
    if (body['version'] !== protocolVersion) throw new FrameError('another protocol version');
    clearTimeout(this.helloTimer);
    this.isWelcome = true;
    this.socket.setTimeout(clientSilenceMs, () => this.socket.destroy());
    this.send(ownLane, 'READY', { version: protocolVersion });
  }

  private onInvoke(run: number, order: RunOrder, orderBytes: number): void {
    if (this.runs.has(run)) throw new FrameError('a run is in flight already');
    const { tenantId } = order;
    if (this.isDraining) return this.send(tenantId, 'RESULT', { run, kind: 'no_capacity' });
    const abort = new AbortController();
    this.runs.set(run, { tenantId, abort });
    void this.execute(run, { order, orderBytes, signal: abort.signal })
      .catch((error: unknown): RunOutcome => {
        this.ctx.logger.error({ error: describeError(error) }, 'a run failed in the runner');
        return { kind: 'died', reason: 'the runner failed' };
      })
      .then((outcome) => this.finish(run, tenantId, outcome));
  }

  private async execute(
    run: number,
    asked: { order: RunOrder; orderBytes: number; signal: AbortSignal },
  ): Promise<RunOutcome> {
    const { order } = asked;
    const startedAt = performance.now();
    const outcome = await this.ctx.pool.run({
      ...asked,
      fetchCode: () => this.fetchCode(run, order.tenantId),
      hooks: {
        onCall: (method, params) => this.call(run, order.tenantId, method, params),
        onLog: (line) => this.send(order.tenantId, 'LOG', { run, ...line }),
      },
    });
    this.ctx.metrics.observeRun(order.runtime, outcome.kind, performance.now() - startedAt);
    return outcome;
  }

  private finish(run: number, lane: string, outcome: RunOutcome): void {
    this.runs.delete(run);
    for (const [id, call] of this.calls) {
      if (call.run !== run) continue;
      this.calls.delete(id);
      call.reject(new CallRefused('RUN_OVER', 'The run is over'));
    }
    try {
      this.send(lane, 'RESULT', { run, ...outcome });
    } catch (error) {
      const reason = error instanceof UnsendableFrame ? error.reason : 'not_serialisable';
      this.send(lane, 'RESULT', { run, kind: 'invalid_result', reason });
    }
    if (this.runs.size === 0) this.onDrained?.();
  }

  // ---- calls back to the client ----

  private call(run: number, lane: string, method: string, params: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.lastCall += 1;
      try {
        this.send(lane, 'RPC', { id: this.lastCall, run, method, params });
      } catch {
        return reject(new CallRefused('ARGUMENTS_TOO_LARGE', 'The arguments are too large'));
      }
      this.calls.set(this.lastCall, { run, resolve, reject });
    });
  }

  private async fetchCode(run: number, lane: string): Promise<string> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('the code did not arrive')), codeTimeoutMs);
    });
    try {
      const code = await Promise.race([this.call(run, lane, 'runner.code', null), late]);
      if (typeof code !== 'string') throw new Error('the code is not text');
      return code;
    } finally {
      clearTimeout(timer);
    }
  }

  private onAnswer(body: JsonObject): void {
    const id = positiveOf(body, 'id');
    const call = this.calls.get(id);
    this.calls.delete(id);
    if (body['ok'] === true) call?.resolve(body['value']);
    else call?.reject(parseCallError(body['error']));
  }

  /** Ends the runs of a client that is gone: nobody waits for them. */
  private abandon(): void {
    clearTimeout(this.helloTimer);
    for (const { abort } of this.runs.values()) abort.abort();
    for (const call of this.calls.values()) call.reject(new Error('the client is gone'));
    this.calls.clear();
  }

  /** Drops nothing. One tenant's large frames do not end the runs of others. */
  private send(lane: string, type: JsonFrameType, body: JsonObject): void {
    if (this.socket.destroyed) return;
    this.lanes.write(lane, encodeFrame(type, body));
  }
}
