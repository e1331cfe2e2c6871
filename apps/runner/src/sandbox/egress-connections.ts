import type { Socket } from 'node:net';
import {
  FrameError,
  positiveOf,
  streamWindowBytes,
  textOf,
  type JsonObject,
} from '@glovebox/sandbox';
import { CallRefused } from './call-refused';

/**
 * The only way out of a sandbox: checks the target, and connects to the address that it checked.
 */
export type Dial = (target: {
  /** The tenant of the code. */
  readonly owner: string;
  readonly host: string;
  readonly port: number;
  readonly signal: AbortSignal;
}) => Promise<Socket>;

interface Connection {
  readonly socket: Socket;
  /** Bytes that the sandbox still accepts. */
  credit: number;
  /** Bytes received from the sandbox since its last credit. */
  owed: number;
  /** Bytes that the sandbox may still send. */
  allowed: number;
}

const connectionsMax = 64;
const connectTimeoutMs = 5_000;

/** The connections of one sandbox. Their bytes travel as frames, in windows in both directions. */
export class EgressConnections {
  private readonly connections = new Map<number, Connection>();
  private stopped = new AbortController();
  private isPaused = false;
  private opening = 0;
  private lastStream = 0;

  constructor(
    private readonly dial: Dial,
    private readonly sandbox: {
      sendEvent(event: JsonObject): void;
      sendData(stream: number, data: Buffer): void;
    },
  ) {}

  async open(owner: string, params: JsonObject): Promise<{ stream: number }> {
    const target = { owner, host: textOf(params, 'host'), port: positiveOf(params, 'port') };
    if (this.connections.size + this.opening >= connectionsMax) {
      throw new CallRefused('EMFILE', 'too many connections');
    }
    this.opening += 1;
    try {
      const stopped = this.stopped.signal;
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(connectTimeoutMs)]);
      const socket = await this.dial({ ...target, signal });
      return { stream: this.adopt(socket, stopped) };
    } catch {
      // Refused and unreachable get one answer, so that probing reveals nothing of our network.
      throw new CallRefused('ECONNREFUSED', 'connect ECONNREFUSED');
    } finally {
      this.opening -= 1;
    }
  }

  /**
   * Names are resolved at open, where the address is checked. A look-up before it reveals nothing.
   */
  async lookup(params: JsonObject): Promise<never> {
    const host = textOf(params, 'host');
    throw new CallRefused('ENOTFOUND', `getaddrinfo ENOTFOUND ${host}`);
  }

  onData(stream: number, data: Buffer): void {
    const connection = this.connections.get(stream);
    if (connection === undefined) return;
    connection.allowed -= data.length;
    if (connection.allowed < 0) throw new FrameError('more data than its window');
    connection.socket.write(data, () => {
      connection.owed += data.length;
      if (connection.owed < streamWindowBytes / 4 || !this.connections.has(stream)) return;
      connection.allowed += connection.owed;
      this.sandbox.sendEvent({ stream, event: 'credit', bytes: connection.owed });
      connection.owed = 0;
    });
  }

  onEvent(body: JsonObject): void {
    const connection = this.connections.get(positiveOf(body, 'stream'));
    if (connection === undefined) return;
    if (body['event'] === 'credit') {
      connection.credit += positiveOf(body, 'bytes');
      if (connection.credit > streamWindowBytes) throw new FrameError('credit for nothing');
      if (connection.credit > 0 && !this.isPaused) connection.socket.resume();
    } else if (body['event'] === 'end') connection.socket.end();
    else connection.socket.destroy();
  }

  /** Reads from no connection until `resume`. */
  pause(): void {
    this.isPaused = true;
    for (const { socket } of this.connections.values()) socket.pause();
  }

  resume(): void {
    this.isPaused = false;
    for (const { socket, credit } of this.connections.values()) if (credit > 0) socket.resume();
  }

  /** Ends open and opening connections. The sandbox is told before it gets any other frame. */
  closeAll(): void {
    this.stopped.abort();
    this.stopped = new AbortController();
    for (const [stream, { socket }] of this.connections) {
      this.connections.delete(stream);
      socket.destroy();
      this.sandbox.sendEvent({ stream, event: 'close' });
    }
  }

  private adopt(socket: Socket, stopped: AbortSignal): number {
    if (stopped.aborted) {
      socket.destroy();
      throw new CallRefused('ECANCELED', 'the run is over');
    }
    this.lastStream += 1;
    const stream = this.lastStream;
    const connection: Connection = {
      socket,
      credit: streamWindowBytes,
      owed: 0,
      allowed: streamWindowBytes,
    };
    this.connections.set(stream, connection);
    let code: string | undefined;
    socket.on('data', (data: Buffer) => {
      connection.credit -= data.length;
      this.sandbox.sendData(stream, data);
      if (connection.credit <= 0) socket.pause();
    });
    if (this.isPaused) socket.pause();
    socket.on('end', () => this.sandbox.sendEvent({ stream, event: 'end' }));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      code = error.code ?? 'ECONNRESET';
    });
    socket.on('close', () => {
      if (this.connections.delete(stream)) {
        this.sandbox.sendEvent({ stream, event: 'close', ...(code === undefined ? {} : { code }) });
      }
    });
    return stream;
  }
}
