import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import {
  FrameError,
  positiveOf,
  streamWindowBytes,
  textOf,
  type JsonObject,
} from '@glovebox/sandbox';
import { CallRefused } from './call-refused';
import { FirstBytes, type Opening } from './first-bytes';
import { HostReach, NamesOfAddresses, type Port } from './host-reach';
import {
  overQuota,
  TrafficOfRun,
  type ConnectionTraffic,
  type Note,
  type RunOwner,
} from './traffic-of-run';

/** The only way out of a sandbox. */
export interface WayOut {
  /** Checks the target, and connects to the address that it checked. */
  dial(target: Target & { readonly port: number }): Promise<Socket>;
  /** Returns the addresses of a name that code may reach, and rejects where there are none. */
  lookUp(target: Target): Promise<readonly string[]>;
  /** Notes a connection that has ended. */
  readonly note: Note;
}

interface Target {
  /** The tenant of the code. */
  readonly owner: string;
  readonly host: string;
  readonly signal: AbortSignal;
}

interface ConnectingRun extends RunOwner {
  /** False: its code has no way out. */
  readonly network: boolean;
}

interface Connection {
  readonly socket: Socket;
  readonly traffic: ConnectionTraffic;
  /** Bytes that the sandbox still accepts. */
  credit: number;
  /** Bytes received from the sandbox since its last credit. */
  owed: number;
  /** Bytes that the sandbox may still send. */
  allowed: number;
  /** The code has ended it. */
  isEnded: boolean;
  /** The code of the error that ends it. */
  fault: string | undefined;
  readonly target: Port;
  /** They say where it leads. */
  readonly firstBytes: FirstBytes;
  /** Ends it where the rest of held bytes does not come. */
  holding: NodeJS.Timeout | undefined;
}

const connectionsMax = 64;
const connectTimeoutMs = 5_000;
const runIsOver = 'ECANCELED';
const endedWell = 'closed';
const notAllowed = 'EDESTINATION';
/** A narrowed run may take so long to send the rest of a ClientHello. */
const helloTimeoutMs = 5_000;

/** The connections of one sandbox. Their bytes travel as frames, in windows in both directions. */
export class EgressConnections {
  private readonly connections = new Map<number, Connection>();
  /** Made for the first connection or look-up of a run: most runs have none. */
  private stop: AbortController | undefined;
  private traffic: TrafficOfRun | undefined;
  private isPaused = false;
  private opening = 0;
  private lastStream = 0;
  private reach: HostReach | undefined;
  private readonly names = new NamesOfAddresses();

  constructor(
    private readonly wayOut: WayOut,
    private readonly sandbox: {
      sendEvent(event: JsonObject): void;
      sendData(stream: number, data: Buffer): void;
    },
  ) {}

  async open(run: ConnectingRun, params: JsonObject): Promise<{ stream: number }> {
    const host = textOf(params, 'host');
    const port = positiveOf(params, 'port');
    requireNetwork(run);
    if (this.connections.size + this.opening >= connectionsMax) {
      throw new CallRefused('EMFILE', 'too many connections');
    }
    this.traffic ??= new TrafficOfRun(run, this.wayOut.note);
    const target = { host, port };
    const traffic = this.traffic.begin(host, port);
    this.opening += 1;
    try {
      this.requireReach(target);
      const stopped = this.stopped();
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(connectTimeoutMs)]);
      const socket = await this.wayOut.dial({ owner: run.tenantId, host, port, signal });
      return { stream: this.adopt(socket, target, traffic, stopped) };
    } catch (error) {
      traffic.end(codeOf(error));
      // Refused and unreachable get one answer, so that probing reveals nothing of our network.
      throw new CallRefused('ECONNREFUSED', 'connect ECONNREFUSED');
    } finally {
      this.opening -= 1;
    }
  }

  /** A name that may not be reached gets the answer of a name that does not exist. */
  async lookUp(run: ConnectingRun, params: JsonObject): Promise<{ addresses: readonly string[] }> {
    const host = textOf(params, 'host');
    requireNetwork(run);
    const signal = this.stopped();
    try {
      // A question may carry data too.
      if (this.reach?.mayKnow(host) === false) throw new CallRefused('ENOTFOUND', 'not allowed');
      const addresses = await this.wayOut.lookUp({ owner: run.tenantId, host, signal });
      this.names.note(host, addresses);
      return { addresses };
    } catch (error) {
      const code = codeOf(error) === 'ENOTFOUND' ? 'ENOTFOUND' : 'EAI_AGAIN';
      throw new CallRefused(code, `getaddrinfo ${code}`);
    }
  }

  onData(stream: number, data: Buffer): void {
    const connection = this.connections.get(stream);
    if (connection === undefined) return;
    connection.allowed -= data.length;
    if (connection.allowed < 0) throw new FrameError('more data than its window');
    if (!connection.traffic.send(data.length)) return reset(connection, overQuota);
    connection.firstBytes.add(data);
    if (!this.isAllowed(connection)) return reset(connection, notAllowed);
    if (this.mustWait(connection)) return hold(connection);
    clearTimeout(connection.holding);
    this.send(stream, connection, connection.firstBytes.take());
  }

  private send(stream: number, connection: Connection, data: Buffer): void {
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
      return;
    }
    connection.isEnded = true;
    if (body['event'] === 'end') connection.socket.end();
    else connection.socket.destroy();
  }

  /** Ends connections to where the code may not go any more. */
  narrow(reach: readonly string[]): void {
    this.reach = new HostReach(reach, this.names);
    for (const connection of this.connections.values()) {
      if (!this.isAllowed(connection)) reset(connection, notAllowed);
    }
  }

  private isAllowed({ target, firstBytes }: Connection): boolean {
    return this.allows(target, firstBytes.opening);
  }

  private allows(target: Port, opening: Opening): boolean {
    return this.reach?.allows(target, opening) ?? true;
  }

  /** Nothing leaves a narrowed run before it is known where it goes. */
  private mustWait({ firstBytes }: Connection): boolean {
    return this.reach !== undefined && firstBytes.opening === 'unknown';
  }

  private requireReach(target: Port): void {
    if (!this.allows(target, 'unknown')) throw new CallRefused(notAllowed, 'not allowed');
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

  /**
   * Ends open and opening connections. The sandbox is told before it gets any other frame. Clients
   * keep connections: one that was answered has ended well, unless its run was stopped.
   */
  closeAll(run: 'ended' | 'stopped'): void {
    this.stop?.abort(new CallRefused(runIsOver, 'the run is over'));
    this.stop = undefined;
    for (const [stream, { socket, traffic, isEnded }] of this.connections) {
      this.connections.delete(stream);
      socket.destroy();
      const isDone = isEnded || (run === 'ended' && traffic.wasAnswered);
      traffic.end(isDone ? endedWell : runIsOver);
      this.sandbox.sendEvent({ stream, event: 'close' });
    }
    this.traffic?.end();
    this.traffic = undefined;
  }

  /** The signal that ends what this run has under way, which may be look-ups without number. */
  private stopped(): AbortSignal {
    if (this.stop === undefined) {
      this.stop = new AbortController();
      setMaxListeners(0, this.stop.signal);
    }
    return this.stop.signal;
  }

  private adopt(
    socket: Socket,
    target: Port,
    traffic: ConnectionTraffic,
    stopped: AbortSignal,
  ): number {
    try {
      stopped.throwIfAborted();
      // It may have been narrowed meanwhile.
      this.requireReach(target);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    this.lastStream += 1;
    const stream = this.lastStream;
    const connection: Connection = {
      socket,
      traffic,
      credit: streamWindowBytes,
      owed: 0,
      allowed: streamWindowBytes,
      isEnded: false,
      fault: undefined,
      target,
      firstBytes: new FirstBytes(),
      holding: undefined,
    };
    this.connections.set(stream, connection);
    socket.on('data', (data: Buffer) => {
      if (!traffic.receive(data.length)) return reset(connection, overQuota);
      connection.credit -= data.length;
      this.sandbox.sendData(stream, data);
      if (connection.credit <= 0) socket.pause();
    });
    if (this.isPaused) socket.pause();
    socket.on('end', () => this.sandbox.sendEvent({ stream, event: 'end' }));
    socket.on('error', (error) => (connection.fault = codeOf(error)));
    socket.on('close', () => {
      clearTimeout(connection.holding);
      if (!this.connections.delete(stream)) return;
      const { fault } = connection;
      // TLS takes leave also where the other side has closed after its answer.
      const isLate = fault === 'EPIPE' && traffic.wasAnswered;
      traffic.end(fault === undefined || isLate ? endedWell : fault);
      this.sandbox.sendEvent({
        stream,
        event: 'close',
        ...(fault === undefined ? {} : { code: fault }),
      });
    });
    return stream;
  }
}

function requireNetwork({ network }: ConnectingRun): void {
  if (!network) throw new CallRefused('ENETDOWN', 'the network is off in this run');
}

function reset(connection: Connection, fault: string): void {
  connection.fault = fault;
  connection.socket.destroy();
}

function hold(connection: Connection): void {
  connection.holding ??= setTimeout(() => reset(connection, notAllowed), helloTimeoutMs);
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'ECONNRESET';
}
