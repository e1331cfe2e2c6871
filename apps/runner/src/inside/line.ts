import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { FrameDecoder, type Frame } from '@glovebox/sandbox';

/** The only way out of the sandbox. */
export interface Line {
  write(bytes: Uint8Array, written?: () => void): void;
  listen(onFrame: (frame: Frame) => void): void;
}

/** What the thread that lets a debugger in says to the thread of the code. */
export type FromInspector = { readonly frame: Frame } | { readonly written: number };
/** What the thread of the code says to it. `written` is answered once the bytes are out. */
export interface ToInspector {
  readonly bytes: Uint8Array;
  readonly written?: number;
}

/** The launcher opens it. */
const channelFd = 3;
const inspectorMb = 64;
// References from before: the code that will run here may replace these.
const exit = process.exit.bind(process);
const write = Socket.prototype.write;

export function socketLine(): Line {
  const socket = new Socket({ fd: channelFd, readable: true, writable: true });
  return {
    write: (bytes, written) => void write.call(socket, bytes, undefined, written),
    listen(onFrame) {
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
    },
  };
}

/**
 * The line of a sandbox that a debugger sees. Another thread has the socket: it goes on while the
 * debugger holds this one.
 */
export function lineOfInspector(script: string): Line {
  const thread = new Worker(readFileSync(script, 'utf8'), {
    eval: true,
    resourceLimits: { maxOldGenerationSizeMb: inspectorMb },
  });
  const post = thread.postMessage.bind(thread) as (message: ToInspector) => void;
  const waiting = new Map<number, () => void>();
  let last = 0;
  thread.on('exit', exit);
  return {
    write(bytes, written) {
      if (written === undefined) return post({ bytes });
      last += 1;
      waiting.set(last, written);
      post({ bytes, written: last });
    },
    listen(onFrame) {
      thread.on('message', (message: FromInspector) => {
        if ('frame' in message) return onFrame(whole(message.frame));
        waiting.get(message.written)?.();
        waiting.delete(message.written);
      });
    },
  };
}

/** Between threads a Buffer becomes an array of bytes. */
function whole(frame: Frame): Frame {
  return frame.type === 'DATA'
    ? { ...frame, data: bufferOf(frame.data) }
    : { ...frame, value: bufferOf(frame.value) };
}

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, length);
