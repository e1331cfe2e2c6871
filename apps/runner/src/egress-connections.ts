import type { Socket } from 'node:net';
import {
  FrameError,
  positiveOf,
  streamWindowBytes,
  textOf,
  type JsonObject,
} from '@glovebox/sandbox';
import { CallRefused } from './call-refused';

/** The only way out of a sandbox: judges the target, connects to the address that was judged. */
export type Dial = (target: {
  /** The tenant whose code it is. */
  readonly owner: string;
  readonly host: string;
  readonly port: number;
  readonly signal: AbortSignal;
}) => Promise<Socket>;

interface Connection {
  readonly socket: Socket;
  /** Bytes that the sandbox still takes. */
  credit: number;
  /** Bytes received from the sandbox since it last got credit. */
  owed: number;
  /** Bytes that the sandbox may still send. */
  allowed: number;
}

const connectionsMax = 64;
const connectTimeoutMs = 5_000;

/** The connections of one sandbox, whose bytes travel as frames, in windows in both directions. */
export class EgressConnections {
  private readonly connections = new Map<number, Connection>();
  private readonly stopped = new AbortController();
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
      const signal = AbortSignal.any([this.stopped.signal, AbortSignal.timeout(connectTimeoutMs)]);
      const socket = await this.dial({ ...target, signal });
      return { stream: this.adopt(socket) };
    } catch {
      // One answer for refused and unreachable: whoever probes learns nothing of our network.
      throw new CallRefused('ECONNREFUSED', 'connect ECONNREFUSED');
    } finally {
      this.opening -= 1;
    }
  }

  /** Names are resolved where the address is judged, at open: code that asks first learns nothing. */
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
      if (connection.owed < streamWindowBytes / 4) return;
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
      if (connection.credit > 0) connection.socket.resume();
    } else if (body['event'] === 'end') connection.socket.end();
    else connection.socket.destroy();
  }

  closeAll(): void {
    this.stopped.abort();
    for (const { socket } of this.connections.values()) socket.destroy();
    this.connections.clear();
  }

  private adopt(socket: Socket): number {
    if (this.stopped.signal.aborted) {
      socket.destroy();
      throw new CallRefused('ECANCELED', 'the sandbox is gone');
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
