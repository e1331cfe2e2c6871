import { isIP, Socket, type SocketConstructorOpts } from 'node:net';
import tls from 'node:tls';
import { objectOf, positiveOf, streamWindowBytes, type JsonObject } from '@glovebox/sandbox';
import { callThen, send, sendData } from './channel';
import { lookup, routeNamesThroughChannel } from './names';
import { systemError } from './system-error';

/**
 * A sandbox has no network: the kernel refuses every socket. Node's modules for it (net, tls, dns,
 * and all that is built on them) use the channel to the runner instead, which dials if policy allows
 * and carries the bytes. TLS stays end to end: its handshake happens in the sandbox.
 */
interface Stream {
  readonly socket: Socket;
  /** Bytes that the other side still accepts. */
  credit: number;
  /** Bytes handed to the code since the other side last got credit. */
  owed: number;
  /** A write that waits for credit. */
  blocked: (() => void) | undefined;
  hasEnded: boolean;
  /** The other side takes and sends no more. The code may still read what has arrived. */
  isClosed: boolean;
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly path: string | undefined;
  /** The code's own way to the address of a name. By default the runner looks the name up itself. */
  readonly lookUp: typeof lookup | undefined;
  readonly options: Options;
}

const streams = new Map<number, Stream>();
const anyRun = 0;

export function routeNetworkThroughChannel(): void {
  Socket.prototype.connect = function connect(this: Socket, ...parameters: unknown[]) {
    const { options, callback } = readParameters(parameters);
    if (callback !== undefined) this.once('connect', callback);
    return connectThroughChannel(this, targetOf(options));
  };

  const connectTls = tls.connect;
  const connect = (...parameters: unknown[]): tls.TLSSocket => {
    const { options, callback } = readParameters(parameters);
    if (options['socket'] !== undefined) return connectTls(options, callback);
    const target = targetOf(options);
    const transport = connectThroughChannel(new Socket({} as SocketConstructorOpts), target);
    const name = isIP(target.host) === 0 ? { servername: target.host } : {};
    const secure = connectTls({ ...name, ...options, socket: transport }, callback);
    transport.on('error', (error) => secure.destroy(error));
    // Node does not notice it. After an orderly end there may be data that the code has yet to read.
    transport.on('close', () => {
      if (!transport.readableEnded) secure.destroy();
    });
    return secure;
  };
  Object.defineProperty(tls, 'connect', { configurable: true, writable: true, value: connect });
  routeNamesThroughChannel();
}

export function onStreamData(id: number, data: Buffer): void {
  const stream = streams.get(id);
  if (stream === undefined) return;
  stream.owed += data.length;
  touch(stream.socket);
  stream.socket.push(data);
}

export function onStreamEvent(body: JsonObject): void {
  const stream = streams.get(positiveOf(body, 'stream'));
  if (stream === undefined) return;
  if (body['event'] === 'credit') {
    stream.credit += positiveOf(body, 'bytes');
    unblock(stream);
  } else if (body['event'] === 'end') {
    stream.hasEnded = true;
    stream.socket.push(null);
  } else if (stream.hasEnded && body['code'] === undefined) {
    streams.delete(positiveOf(body, 'stream'));
    stream.isClosed = true;
    unblock(stream);
  } else {
    stream.socket.destroy(
      typeof body['code'] === 'string' ? systemError(body['code'], 'read') : undefined,
    );
  }
}

function unblock(stream: Stream): void {
  const resume = stream.blocked;
  stream.blocked = undefined;
  resume?.();
}

// ---- a net.Socket whose bytes travel as frames ----

function connectThroughChannel(socket: Socket, target: Target): Socket {
  // A closed socket may connect once more. Node does the same when it makes a handle for it.
  if (socket.destroyed) (socket as unknown as { _undestroy(): void })._undestroy();
  if (target.path !== undefined) {
    // A request listens to its socket from the next tick on.
    process.nextTick(() => socket.destroy(systemError('EACCES', 'connect')));
    return socket;
  }
  let stream: Stream | undefined;
  let id = 0;

  const whenConnected = (then: () => void): void => {
    if (stream !== undefined) then();
    else socket.once('connect', then);
  };
  const writeAll = (data: Buffer, done: () => void): void => {
    if (stream === undefined || socket.destroyed) return;
    touch(socket);
    if (stream.isClosed) return done();
    if (data.length > stream.credit) {
      const rest = data.subarray(stream.credit);
      stream.blocked = () => writeAll(rest, done);
      if (stream.credit > 0) sendData(id, data.subarray(0, stream.credit), () => undefined);
      stream.credit = 0;
      return;
    }
    stream.credit -= data.length;
    sendData(id, data, done);
  };

  Object.assign(socket, {
    connecting: true,
    _writev: null,
    _write: (chunk: Buffer | string, encoding: BufferEncoding, done: () => void) => {
      const data = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
      whenConnected(() => writeAll(data, done));
    },
    _read: () => {
      if (stream === undefined || stream.isClosed || stream.owed < streamWindowBytes / 4) return;
      send('STREAM', { stream: id, event: 'credit', bytes: stream.owed });
      stream.owed = 0;
    },
    _final: (done: () => void) => {
      whenConnected(() => {
        if (stream?.isClosed === false) send('STREAM', { stream: id, event: 'end' });
        done();
      });
    },
    _destroy: (error: Error | null, done: (error?: Error | null) => void) => {
      if (streams.delete(id)) send('STREAM', { stream: id, event: 'close' });
      Socket.prototype._destroy.call(socket, error, done);
    },
    // Without a handle each of these would wait for 'connect', and listeners would pile up.
    setKeepAlive: () => socket,
    setNoDelay: () => socket,
    ref: () => socket,
    unref: () => socket,
  });

  const open = (host: string): void =>
    callThen(
      anyRun,
      'egress.open',
      { host, port: target.port },
      {
        resolve: (answer) => {
          id = positiveOf(objectOf(answer, 'answer'), 'stream');
          if (socket.destroyed) return send('STREAM', { stream: id, event: 'close' });
          stream = streamOf(socket);
          streams.set(id, stream);
          Object.assign(socket, { connecting: false });
          socket.emit('connect');
          socket.emit('ready');
          socket.read(0);
        },
        reject: (refused) => {
          const code = (refused as { code?: unknown }).code;
          const error = systemError(typeof code === 'string' ? code : 'ECONNREFUSED', 'connect');
          socket.destroy(Object.assign(error, { address: target.host, port: target.port }));
        },
      },
    );
  if (target.lookUp === undefined) open(target.host);
  else lookUpFirst(socket, target, target.lookUp, open);
  return socket;
}

function lookUpFirst(
  socket: Socket,
  { host, options }: Target,
  lookUp: typeof lookup,
  open: (address: string) => void,
): void {
  const { family, hints } = options;
  lookUp(host, { family, hints, all: false }, (error: Error | null, found: unknown, of: number) => {
    const [first] = Array.isArray(found) ? (found as { address: string }[]) : [{ address: found }];
    socket.emit('lookup', error, first?.address, of, host);
    if (socket.destroyed) return;
    if (error) socket.destroy(error);
    else open(String(first?.address));
  });
}

const streamOf = (socket: Socket): Stream => ({
  ...{ socket, credit: streamWindowBytes, owed: 0, blocked: undefined },
  ...{ hasEnded: false, isClosed: false },
});

/** Bytes moved, so the time of setTimeout() starts again. */
function touch(socket: Socket): void {
  (socket as unknown as { _unrefTimer?: () => void })._unrefTimer?.();
}

// ---- the forms of arguments of connect() ----

type Options = Readonly<Record<string, unknown>>;

function readParameters(parameters: unknown[]): {
  options: Options;
  callback: (() => void) | undefined;
} {
  // net.connect() passes its own normalised pair as one array.
  const list = Array.isArray(parameters[0]) ? (parameters[0] as unknown[]) : [...parameters];
  const last = list[list.length - 1];
  const callback = typeof last === 'function' ? (last as () => void) : undefined;
  const [first, ...rest] = list;
  if (typeof first === 'object' && first !== null) return { options: first as Options, callback };
  const more = rest.find((value) => typeof value === 'object' && value !== null) as Options;
  if (typeof first === 'string' && Number.isNaN(Number(first))) {
    return { options: { ...more, path: first }, callback };
  }
  const host = typeof rest[0] === 'string' ? { host: rest[0] } : {};
  return { options: { ...more, ...host, port: first }, callback };
}

function targetOf(options: Options): Target {
  const { port, path, family } = options;
  // https passes the path of the URL beside host and port, and http a socket file under two names.
  const isAlone = port === undefined && options['host'] === undefined;
  const isFile = typeof path === 'string' && (isAlone || options['socketPath'] === path);
  if (!isFile) checkPort(port);
  const host = typeof options['host'] === 'string' ? options['host'] : '';
  const ownLookUp = options['lookup'] as typeof lookup | undefined;
  const lookUp = ownLookUp ?? (family === 4 || family === 6 ? lookup : undefined);
  return {
    host: host === '' ? 'localhost' : host,
    port: Number(port),
    path: isFile ? path : undefined,
    lookUp: isIP(host) === 0 ? lookUp : undefined,
    options,
  };
}

function checkPort(port: unknown): void {
  const number = port === '' ? NaN : Number(port);
  if (Number.isInteger(number) && number >= 0 && number < 65_536) return;
  throw Object.assign(
    new RangeError(`Port should be >= 0 and < 65536. Received ${String(port)}.`),
    {
      code: 'ERR_SOCKET_BAD_PORT',
    },
  );
}
