import { Socket } from 'node:net';
import {
  encodeData,
  encodeFrame,
  encodeFrameText,
  FrameDecoder,
  parseCallError,
  type Frame,
  type JsonFrameType,
  type JsonObject,
} from '@glovebox/sandbox';

/** The one way out of the sandbox, opened by the launcher. */
const channelFd = 3;
// What the code that will run here may replace, kept from before.
const exit = process.exit.bind(process);
const write = Socket.prototype.write;

const socket = new Socket({ fd: channelFd, readable: true, writable: true });

export function send(type: JsonFrameType, body: JsonObject): void {
  write.call(socket, encodeFrame(type, body));
}

export function sendText(type: JsonFrameType, text: string): void {
  write.call(socket, encodeFrameText(type, text));
}

export function sendData(stream: number, data: Uint8Array, sent: () => void): void {
  write.call(socket, encodeData(stream, data), undefined, sent);
}

/** Ends the process once everything said so far is out. */
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

export interface PendingCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const pending = new Map<number, PendingCall>();
let lastCall = 0;

export function call(run: number, method: string, params: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => callThen(run, method, params, { resolve, reject }));
}

/** For who must act before the next frame is read, which a promise is too late for. */
export function callThen(run: number, method: string, params: unknown, then: PendingCall): void {
  lastCall += 1;
  send('RPC', { id: lastCall, run, method, params });
  pending.set(lastCall, then);
}

export function settleCall(body: JsonObject): void {
  const id = Number(body['id']);
  const waiting = pending.get(id);
  pending.delete(id);
  if (body['ok'] === true) waiting?.resolve(body['value']);
  else waiting?.reject(parseCallError(body['error']));
}
