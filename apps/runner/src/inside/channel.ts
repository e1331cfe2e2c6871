import {
  callTooLarge,
  encodeData,
  encodeFrame,
  OpenCalls,
  parseCallError,
  readValue,
  sandboxHeadBytesMax,
  svcBytesMax,
  writeValue,
  type JsonFrameType,
  type JsonObject,
} from '@glovebox/sandbox';
import { lineOfInspector, socketLine } from './line';

// A reference from before: the code that will run here may replace it.
const exit = process.exit.bind(process);
/** The launcher names the script of a sandbox that a debugger sees. */
const [, , inspector] = process.argv;
const line = inspector === undefined ? socketLine() : lineOfInspector(inspector);

export function send(type: JsonFrameType, head: JsonObject, value?: string): void {
  line.write(encodeFrame(type, head, value));
}

export function sendData(stream: number, data: Uint8Array, sent: () => void): void {
  line.write(encodeData(stream, data), sent);
}

/** Ends the process once every frame so far has been written. */
export function leave(): void {
  line.write(new Uint8Array(), () => exit(1));
}

export const { listen } = line;

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
  line.write(frame);
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
