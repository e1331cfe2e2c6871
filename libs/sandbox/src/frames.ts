/**
 * The one wire format: `u32 LE length | u8 type | payload`. The length counts type and payload. The
 * payload is a JSON object in UTF-8; that of DATA is `u32 LE stream | bytes`. The format is used on
 * fd 3 of a sandbox, and between gateway or worker and runner. This file also runs inside the
 * sandbox, on Node 16, beside code that may replace every global. It therefore keeps its own
 * references.
 */
const { parse, stringify } = JSON;
const { allocUnsafe, concat } = Buffer;

export const protocolVersion = 1;

const frameCodes = {
  HELLO: 1,
  READY: 2,
  LOAD: 3,
  LOADED: 4,
  INVOKE: 5,
  RESULT: 6,
  RPC: 7,
  RPCRES: 8,
  LOG: 9,
  CANCEL: 10,
  PING: 11,
  PONG: 12,
  STREAM: 13,
} as const;
const dataCode = 14;

export type JsonFrameType = keyof typeof frameCodes;
export type JsonObject = Readonly<Record<string, unknown>>;
export type Frame =
  | {
      readonly type: JsonFrameType;
      readonly body: JsonObject;
      /** Size of the JSON text. */
      readonly bytes: number;
    }
  | { readonly type: 'DATA'; readonly stream: number; readonly data: Buffer };

/** Large enough for the largest run: 10 MiB of body, its text once more, and the code. */
export const frameBytesMax = 32 * 1024 * 1024;

/**
 * Nesting of the JSON of a frame: 64 for a value, as anywhere in the product, and 8 for the levels
 * around it (frame, error, `raw` and `body` of a transform, lists of tokens).
 */
export const frameDepthMax = 72;

/** Bytes of a stream that may be under way before the receiver gives credit. */
export const streamWindowBytes = 256 * 1024;

const headerBytes = 5;
const nothing = allocUnsafe(0);
const typesByCode: readonly (JsonFrameType | undefined)[] = Object.entries(frameCodes).reduce<
  (JsonFrameType | undefined)[]
>((types, [type, code]) => {
  types[code] = type as JsonFrameType;
  return types;
}, []);

/** The other side violates the protocol. Its connection or process has to end. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** A frame that cannot be encoded. The sender decides what to send instead. */
export class UnsendableFrame extends FrameError {
  constructor(
    readonly reason: 'not_serialisable' | 'too_large',
    message: string,
  ) {
    super(message);
  }
}

export function encodeFrame(type: JsonFrameType, body: JsonObject): Buffer {
  let text: string;
  try {
    text = stringify(body);
  } catch {
    // Circular, a BigInt, too deep for the stack, a toJSON that threw, too long for a string.
    throw new UnsendableFrame('not_serialisable', `a ${type} frame cannot be written as JSON`);
  }
  return encodeFrameText(type, text);
}

/** Encodes a frame whose JSON text the sender already has. */
export function encodeFrameText(type: JsonFrameType, text: string): Buffer {
  const bytes = Buffer.byteLength(text);
  if (bytes >= frameBytesMax) {
    throw new UnsendableFrame('too_large', `a ${type} frame of ${bytes} bytes is too large`);
  }
  const frame = allocUnsafe(headerBytes + bytes);
  frame.writeUInt32LE(bytes + 1, 0);
  frame[4] = frameCodes[type];
  frame.write(text, headerBytes, 'utf8');
  if (isTooDeep(frame, headerBytes)) {
    throw new UnsendableFrame('not_serialisable', `a ${type} frame is nested too deeply`);
  }
  return frame;
}

export function encodeData(stream: number, data: Uint8Array): Buffer {
  const head = allocUnsafe(headerBytes + 4);
  head.writeUInt32LE(data.length + 5, 0);
  head[4] = dataCode;
  head.writeUInt32LE(stream, headerBytes);
  return concat([head, data]);
}

/** Cuts a byte stream into frames. `push` throws a FrameError at the first malformed one. */
export class FrameDecoder {
  private chunks: Buffer[] = [];
  private buffered = 0;
  private wanted = headerBytes;
  private isPaused = false;

  constructor(
    private readonly onFrame: (frame: Frame) => void,
    private readonly bytesMaxOf: (type: Frame['type']) => number = () => frameBytesMax,
  ) {}

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.buffered += chunk.length;
    this.decode();
  }

  /** Keeps the following frames undecoded. The reader of the bytes has to hold back the sender. */
  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.decode();
  }

  private decode(): void {
    if (this.isPaused || this.buffered < this.wanted) return;
    // Chunks are joined only when a frame is complete: else each chunk would copy a large frame.
    let [buffer = nothing] = this.chunks;
    if (this.chunks.length > 1) buffer = concat(this.chunks, this.buffered);
    this.wanted = headerBytes;
    while (!this.isPaused && buffer.length >= headerBytes) {
      const length = buffer.readUInt32LE(0);
      const type = typeOf(buffer[4]);
      if (length < 1 || length > this.bytesMaxOf(type)) {
        throw new FrameError(`a ${type} frame of ${length} bytes is not acceptable`);
      }
      const end = 4 + length;
      if (buffer.length < end) {
        this.wanted = end;
        break;
      }
      this.onFrame(readFrame(type, buffer.subarray(headerBytes, end)));
      buffer = buffer.subarray(end);
    }
    this.chunks = buffer.length === 0 ? [] : [buffer];
    this.buffered = buffer.length;
  }
}

function typeOf(code: number | undefined): Frame['type'] {
  const type = code === dataCode ? 'DATA' : typesByCode[code ?? 0];
  if (type === undefined) throw new FrameError(`there is no frame type ${code}`);
  return type;
}

function readFrame(type: Frame['type'], payload: Buffer): Frame {
  if (type === 'DATA') {
    if (payload.length < 4) throw new FrameError('a DATA frame names no stream');
    return { type, stream: payload.readUInt32LE(0), data: payload.subarray(4) };
  }
  // Checked before parsing: nesting costs the parser fifty times its size in memory.
  if (isTooDeep(payload, 0)) throw new FrameError(`a ${type} frame is nested too deeply`);
  return { type, body: parseObject(payload.toString('utf8')), bytes: payload.length };
}

/** Counts brackets outside of strings, whether the bytes are valid JSON or not. */
function isTooDeep(json: Buffer, from: number): boolean {
  let depth = 0;
  let inText = false;
  for (let at = from; at < json.length; at += 1) {
    const byte = json[at];
    if (inText) {
      if (byte === 0x5c) at += 1;
      else if (byte === 0x22) inText = false;
    } else if (byte === 0x22) inText = true;
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > frameDepthMax) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
  return false;
}

function parseObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    throw new FrameError('the payload is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FrameError('the payload is not an object');
  }
  return value as JsonObject;
}
