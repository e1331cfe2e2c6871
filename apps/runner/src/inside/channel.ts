import { Socket } from 'node:net';
import {
  callTooLarge,
  encodeData,
  encodeFrame,
  FrameDecoder,
  OpenCalls,
  parseCallError,
  readValue,
  sandboxHeadBytesMax,
  svcBytesMax,
  writeValue,
  type Frame,
  type JsonFrameType,
  type JsonObject,
} from '@glovebox/sandbox';

/** The only way out of the sandbox. The launcher opens it. */
const channelFd = 3;
// References from before: the code that will run here may replace these.
const exit = process.exit.bind(process);
const write = Socket.prototype.write;

const socket = new Socket({ fd: channelFd, readable: true, writable: true });

export function send(type: JsonFrameType, head: JsonObject, value?: string): void {
  write.call(socket, encodeFrame(type, head, value));
}

export function sendData(stream: number, data: Uint8Array, sent: () => void): void {
  write.call(socket, encodeData(stream, data), undefined, sent);
}

/** Ends the process once every frame so far has been written. */
export function leave(): void {
  write.call(socket, '', undefined, () => exit(1));
}

export function listen(onFrame: (frame: Frame) => void): void {
  const decoder = new FrameDecoder(onFrame);
  socket.on('data', (chunk: Buffer) => {
    try {
      decoder.push(chunk);
    } catch {
      exit(1);
    }
  });
  socket.on('end', () => exit(0));
  socket.on('error', () => exit(1));
}

// ---- calls to the other side ----

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const pending = new Map<number, PendingCall>();
let lastCall = 0;

export function call(run: number, method: string, params: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => callThen(run, method, params, { resolve, reject }));
}

/** For callers that must act before the next frame is read: a promise would be too late. */
export function callThen(run: number, method: string, params: unknown, then: PendingCall): void {
  lastCall += 1;
  try {
    // The runner itself answers these calls. It reads heads only.
    const frame = encodeFrame('RPC', { id: lastCall, run, method, params });
    if (frame.length > sandboxHeadBytesMax) throw parseCallError(callTooLarge);
    sendCall({ id: lastCall, frame, bytes: 0 }, then);
  } catch (error) {
    then.reject(error as Error);
  }
}

interface EncodedCall {
  readonly id: number;
  readonly frame: Buffer;
  /** The size of its arguments. */
  readonly bytes: number;
}

function encodeCall(run: number, method: string, params: unknown): EncodedCall {
  const text = writeValue(params);
  const bytes = Buffer.byteLength(text);
  if (bytes > svcBytesMax) throw parseCallError(callTooLarge);
  lastCall += 1;
  return { id: lastCall, frame: encodeFrame('RPC', { id: lastCall, run, method }, text), bytes };
}

function sendCall({ id, frame }: EncodedCall, then: PendingCall): void {
  write.call(socket, frame);
  pending.set(id, then);
}

export function settleCall(head: JsonObject, value: Buffer): void {
  const id = Number(head['id']);
  const waiting = pending.get(id);
  pending.delete(id);
  if (waiting === undefined) return;
  const answer = readValue(value);
  if (head['ok'] === true) waiting.resolve(answer);
  else waiting.reject(parseCallError(answer));
}

// ---- the calls of one run wait for each other ----

export interface CallsOfRun {
  call(method: string, params: unknown): Promise<unknown>;
  hasCalled(): boolean;
  /** Rejects the calls that still wait: the run is over. */
  end(): void;
}

/** The runner stops reading while too many calls are open, so calls wait here, in their order. */
export function createCallsOfRun(run: number): CallsOfRun {
  const open = new OpenCalls();
  let waiting: { readonly call: EncodedCall; readonly then: PendingCall }[] = [];
  let isOver = false;
  let hasCalled = false;
  const over = (): Error => new Error('The run is over');

  const sendNext = (): void => {
    const [next] = waiting;
    if (next === undefined || !open.hasRoomFor(next.call.bytes)) return;
    const { bytes } = next.call;
    const close = (): void => {
      open.close(bytes);
      sendNext();
    };
    waiting.shift();
    open.open(bytes);
    sendCall(next.call, {
      resolve: (value) => (close(), next.then.resolve(value)),
      reject: (error) => (close(), next.then.reject(error)),
    });
    sendNext();
  };

  return {
    call: (method, params) =>
      new Promise((resolve, reject) => {
        if (isOver) return reject(over());
        hasCalled = true;
        waiting.push({ call: encodeCall(run, method, params), then: { resolve, reject } });
        sendNext();
      }),
    hasCalled: () => hasCalled,
    end() {
      isOver = true;
      for (const { then } of waiting) then.reject(over());
      waiting = [];
    },
  };
}
