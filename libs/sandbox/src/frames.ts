/**
 * The one wire format: `u32 LE length | u8 type | u32 LE headBytes | head | value`. The length counts
 * all that follows it. The head is a small JSON object in UTF-8, and tells what the value is. The
 * value is bytes that only their last receiver reads: a runner passes them on. DATA has no head:
 * `u32 LE length | u8 type | u32 LE stream | bytes`. The format is used on fd 3 of a sandbox, and
 * between gateway or worker and runner. This file also runs inside the sandbox, on Node 16, beside
 * code that may replace every global. It therefore keeps its own references.
 */
const { parse, stringify } = JSON;
const { allocUnsafe, concat } = Buffer;

/** The id of a PONG that nobody asked for: the runner ends, and takes no further run. */
export const leavingId = Number.MAX_SAFE_INTEGER - 1;

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
  REST: 15,
  INSPECT: 16,
} as const;
const dataCode = 14;

export type JsonFrameType = keyof typeof frameCodes;
export type JsonObject = Readonly<Record<string, unknown>>;
export type Frame =
  | {
      readonly type: JsonFrameType;
      readonly head: JsonObject;
      readonly value: Buffer;
      /** The size of the whole frame. */
      readonly bytes: number;
    }
  | { readonly type: 'DATA'; readonly stream: number; readonly data: Buffer };

export const headBytesMax = 64 * 1024;
/** The head of a frame that a sandbox sends. */
export const sandboxHeadBytesMax = 4 * 1024;

/** Large enough for the largest run: 10 MiB of body, and its text once more. */
export const valueBytesMax = 32 * 1024 * 1024;

/** Bytes of a stream that may be under way before the receiver gives credit. */
export const streamWindowBytes = 256 * 1024;

const lengthBytes = 4;
/** Length, type, and the size of the head or the number of the stream. */
const prefixBytes = lengthBytes + 5;
/** A smaller value is copied into the frame: a piece of its own costs more. */
const joinedBytes = 16 * 1024;
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
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function encodeFrame(
  type: JsonFrameType,
  head: JsonObject,
  value: Buffer | string = nothing,
): Buffer {
  const isText = typeof value === 'string';
  const valueBytes = isText ? Buffer.byteLength(value) : value.length;
  const start = encodeStart(type, head, valueBytes, valueBytes);
  const valueAt = start.length - valueBytes;
  if (isText) start.write(value, valueAt, 'utf8');
  else value.copy(start, valueAt);
  return start;
}

/** The pieces of a frame to be written one behind the other. A large value is not copied. */
export function encodePieces(
  type: JsonFrameType,
  head: JsonObject,
  value: Buffer = nothing,
): readonly Buffer[] {
  if (value.length <= joinedBytes) return [encodeFrame(type, head, value)];
  return [encodeStart(type, head, value.length, 0), value];
}

/** All of a frame that is before its value, and room for as much of the value as it shall hold. */
function encodeStart(
  type: JsonFrameType,
  head: JsonObject,
  valueBytes: number,
  room: number,
): Buffer {
  const text = headText(type, head);
  const headBytes = Buffer.byteLength(text);
  if (headBytes > headBytesMax || valueBytes > valueBytesMax) {
    const bytes = headBytes + valueBytes;
    throw new UnsendableFrame('too_large', `a ${type} frame of ${bytes} bytes is too large`);
  }
  const start = allocUnsafe(prefixBytes + headBytes + room);
  start.writeUInt32LE(prefixBytes - lengthBytes + headBytes + valueBytes, 0);
  start[lengthBytes] = frameCodes[type];
  start.writeUInt32LE(headBytes, lengthBytes + 1);
  start.write(text, prefixBytes, 'utf8');
  return start;
}

function headText(type: JsonFrameType, head: JsonObject): string {
  try {
    return stringify(head);
  } catch {
    throw new UnsendableFrame('not_serialisable', `the head of ${type} cannot be written as JSON`);
  }
}

export function encodeData(stream: number, data: Uint8Array): Buffer {
  const start = allocUnsafe(prefixBytes);
  start.writeUInt32LE(prefixBytes - lengthBytes + data.length, 0);
  start[lengthBytes] = dataCode;
  start.writeUInt32LE(stream, lengthBytes + 1);
  return concat([start, data]);
}

/** A frame of which a part has arrived. Until its length is known, only its prefix is wanted. */
interface PartialFrame {
  readonly bytes: Buffer;
  filled: number;
}

/** Cuts a byte stream into frames. `push` throws a FrameError at the first malformed one. */
export class FrameDecoder {
  private readonly chunks: Buffer[] = [];
  private partial: PartialFrame | undefined;
  private isPaused = false;
  private isDecoding = false;

  /** `valueBytesMaxOf` limits the value of a type, and the bytes of one DATA. */
  constructor(
    private readonly onFrame: (frame: Frame) => void,
    private readonly valueBytesMaxOf: (type: Frame['type']) => number = () => valueBytesMax,
    private readonly headMax = headBytesMax,
  ) {}

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
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
    // A frame may have resumed what another one paused: the loop below goes on.
    if (this.isDecoding) return;
    this.isDecoding = true;
    try {
      while (!this.isPaused) {
        const chunk = this.chunks.shift();
        if (chunk === undefined) return;
        this.take(chunk);
      }
    } finally {
      this.isDecoding = false;
    }
  }

  /** Takes one frame, or the part of one, and puts back the rest. */
  private take(chunk: Buffer): void {
    let whole: Buffer | undefined;
    let taken: number;
    if (this.partial === undefined && chunk.length >= prefixBytes) {
      const size = this.sizeOf(chunk);
      if (chunk.length < size) return this.keep(chunk, size);
      whole = chunk.subarray(0, size);
      taken = size;
    } else {
      this.partial ??= { bytes: allocUnsafe(prefixBytes), filled: 0 };
      const { partial } = this;
      taken = chunk.copy(partial.bytes, partial.filled);
      partial.filled += taken;
      if (partial.filled === partial.bytes.length) whole = this.complete(partial.bytes);
    }
    if (taken < chunk.length) this.chunks.unshift(chunk.subarray(taken));
    if (whole === undefined) return;
    this.partial = undefined;
    this.onFrame(readFrame(whole));
  }

  /** The frame, unless only its prefix is complete. */
  private complete(bytes: Buffer): Buffer | undefined {
    if (bytes.length > prefixBytes) return bytes;
    const size = this.sizeOf(bytes);
    if (size === prefixBytes) return bytes;
    this.keep(bytes, size);
    return undefined;
  }

  /** Each later chunk is copied to its place as it comes: a large frame costs no moment of its own. */
  private keep(start: Buffer, size: number): void {
    const bytes = allocUnsafe(size);
    this.partial = { bytes, filled: start.copy(bytes) };
  }

  /** Refuses a frame by its prefix alone, before it is kept. */
  private sizeOf(prefix: Buffer): number {
    const length = prefix.readUInt32LE(0);
    const type = typeOf(prefix[lengthBytes]);
    const headBytes = type === 'DATA' ? 0 : prefix.readUInt32LE(lengthBytes + 1);
    const valueBytes = lengthBytes + length - prefixBytes - headBytes;
    if (headBytes > this.headMax || valueBytes < 0 || valueBytes > this.valueBytesMaxOf(type)) {
      throw new FrameError(`a ${type} frame of ${length} bytes is not acceptable`);
    }
    return lengthBytes + length;
  }
}

function typeOf(code: number | undefined): Frame['type'] {
  const type = code === dataCode ? 'DATA' : typesByCode[code ?? 0];
  if (type === undefined) throw new FrameError(`there is no frame type ${code}`);
  return type;
}

function readFrame(frame: Buffer): Frame {
  const type = typeOf(frame[lengthBytes]);
  const number = frame.readUInt32LE(lengthBytes + 1);
  if (type === 'DATA') return { type, stream: number, data: frame.subarray(prefixBytes) };
  const valueAt = prefixBytes + number;
  return {
    type,
    head: parseHead(frame.toString('utf8', prefixBytes, valueAt)),
    value: frame.subarray(valueAt),
    bytes: frame.length,
  };
}

function parseHead(text: string): JsonObject {
  let head: unknown;
  try {
    head = parse(text);
  } catch {
    throw new FrameError('the head is not JSON');
  }
  if (typeof head !== 'object' || head === null || Array.isArray(head)) {
    throw new FrameError('the head is not an object');
  }
  return head as JsonObject;
}
