import dns from 'node:dns';
import { isIP, Socket, type SocketConstructorOpts } from 'node:net';
import tls from 'node:tls';
import { objectOf, positiveOf, streamWindowBytes, type JsonObject } from '@glovebox/sandbox';
import { call, callThen, send, sendData } from './channel';

/**
 * A sandbox has no network: the kernel refuses every socket. Node's modules for it (net, tls,
 * dns.lookup, and all that is built on them) use the channel to the runner instead, which dials if
 * policy allows and carries the bytes. TLS stays end to end: its handshake happens in the sandbox.
 */
interface Stream {
  readonly socket: Socket;
  /** Bytes that the other side still accepts. */
  credit: number;
  /** Bytes handed to the code since the other side last got credit. */
  owed: number;
  /** A write that waits for credit. */
  blocked: (() => void) | undefined;
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly path: string | undefined;
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
    return secure;
  };
  Object.defineProperty(tls, 'connect', { configurable: true, writable: true, value: connect });

  Object.defineProperty(dns, 'lookup', { configurable: true, writable: true, value: lookup });
  Object.defineProperty(dns.promises, 'lookup', {
    configurable: true,
    writable: true,
    value: lookupPromise,
  });
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
    const resume = stream.blocked;
    stream.blocked = undefined;
    resume?.();
  } else if (body['event'] === 'end') {
    stream.socket.push(null);
  } else {
    stream.socket.destroy(
      typeof body['code'] === 'string' ? systemError(body['code'], 'read') : undefined,
    );
  }
}

// ---- a net.Socket whose bytes travel as frames ----

function connectThroughChannel(socket: Socket, target: Target): Socket {
  if (target.path !== undefined) {
    return socket.destroy(systemError('EACCES', 'connect'));
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
      if (stream === undefined || stream.owed < streamWindowBytes / 4) return;
      send('STREAM', { stream: id, event: 'credit', bytes: stream.owed });
      stream.owed = 0;
    },
    _final: (done: () => void) => {
      whenConnected(() => {
        send('STREAM', { stream: id, event: 'end' });
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

  callThen(
    anyRun,
    'egress.open',
    { host: target.host, port: target.port },
    {
      resolve: (answer) => {
        id = positiveOf(objectOf(answer, 'answer'), 'stream');
        if (socket.destroyed) return send('STREAM', { stream: id, event: 'close' });
        stream = { socket, credit: streamWindowBytes, owed: 0, blocked: undefined };
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
  return socket;
}

/** Bytes moved, so the time of setTimeout() starts again. */
function touch(socket: Socket): void {
  (socket as unknown as { _unrefTimer?: () => void })._unrefTimer?.();
}

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
}

// ---- dns.lookup ----

type LookupAddress = { address: string; family: number };
type LookupCallback = (error: Error | null, address?: unknown, family?: number) => void;

function lookup(hostname: string, ...rest: unknown[]): void {
  const callback = rest[rest.length - 1] as LookupCallback;
  const options = rest.length > 1 ? rest[0] : {};
  lookupAddresses(hostname, options).then(
    (addresses) => {
      if (wantsAll(options)) callback(null, addresses);
      else callback(null, addresses[0]?.address, addresses[0]?.family);
    },
    (error: Error) => callback(error),
  );
}

async function lookupPromise(hostname: string, options: unknown = {}): Promise<unknown> {
  const addresses = await lookupAddresses(hostname, options);
  return wantsAll(options) ? addresses : addresses[0];
}

async function lookupAddresses(hostname: string, options: unknown): Promise<LookupAddress[]> {
  const family =
    typeof options === 'number' ? options : (options as { family?: number } | null)?.family;
  const own = isIP(hostname);
  if (own !== 0) return [{ address: hostname, family: own }];
  try {
    const answer = objectOf(await call(anyRun, 'egress.lookup', { host: hostname }), 'answer');
    const addresses = (answer['addresses'] as LookupAddress[]).filter(
      (entry) => !family || entry.family === family,
    );
    if (addresses.length > 0) return addresses;
  } catch {
    // Refused and unknown names get the same answer.
  }
  throw Object.assign(systemError('ENOTFOUND', 'getaddrinfo'), { hostname });
}

const wantsAll = (options: unknown): boolean =>
  typeof options === 'object' && (options as { all?: boolean } | null)?.all === true;

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
  const { host, port, path } = options;
  // https passes the path of the URL beside host and port. Only a path alone is a socket file.
  const isFile = typeof path === 'string' && port === undefined && host === undefined;
  return {
    host: typeof host === 'string' && host !== '' ? host : 'localhost',
    port: Number(port),
    path: isFile ? path : undefined,
  };
}
