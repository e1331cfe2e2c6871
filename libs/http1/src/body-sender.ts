import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { RequestInvalid, type StreamedSource, type WholeBody } from './client-request';

/** Smaller text and bytes go out as one string, larger ones as one vector of buffers. */
const oneStringBytes = 16 * 1024;

interface BodyEvents {
  partSent(): void;
  allSent(): void;
  failed(error: Error): void;
}

/** Sends the streamed bodies of the requests of one connection, one after the other. */
export class BodySender {
  #stream: Readable | undefined;
  /** Goes out with the first part. */
  #head = '';
  /** undefined: chunked */
  #left: number | undefined;
  #sentBytes = 0;

  constructor(
    private readonly socket: Socket,
    private readonly events: BodyEvents,
  ) {}

  /** True until the first byte of the request is out. */
  get isWaiting(): boolean {
    return this.#head !== '';
  }

  /** Bytes of the body that were given to the socket. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  begin(head: string, { stream, length }: StreamedSource): void {
    this.#sentBytes = 0;
    this.#stream = stream;
    this.#head = head;
    this.#left = length;
    stream
      .on('data', this.#send)
      .on('end', this.#finish)
      .on('error', this.#fail)
      .on('close', this.#close);
    stream.resume();
  }

  /** Called when the socket takes more again. */
  goOn(): void {
    this.#stream?.resume();
  }

  /** Leaves the stream alone: its rest and its faults belong to its owner. */
  end(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#stream = undefined;
    this.#head = '';
    stream
      .off('data', this.#send)
      .off('end', this.#finish)
      .off('error', this.#fail)
      .off('close', this.#close)
      .on('error', ignore);
    stream.pause();
  }

  readonly #send = (part: Buffer): void => {
    if (part.length === 0) return;
    if (!Buffer.isBuffer(part)) return this.#fail(new RequestInvalid('a body of no bytes'));
    if (this.#left !== undefined) {
      this.#left -= part.length;
      if (this.#left < 0) return this.#fail(new RequestInvalid('a body longer than said'));
    }
    const isChunked = this.#left === undefined;
    const before = isChunked ? `${this.#head}${part.length.toString(16)}\r\n` : this.#head;
    const isTaken = write(this.socket, before, part, isChunked ? '\r\n' : '');
    this.#head = '';
    this.#sentBytes += part.length;
    if (!isTaken) this.#stream?.pause();
    this.events.partSent();
  };

  readonly #finish = (): void => {
    if ((this.#left ?? 0) > 0) return this.#fail(new RequestInvalid('a body shorter than said'));
    // RFC 9112 §7.1: last-chunk, no trailers
    const rest = this.#left === undefined ? `${this.#head}0\r\n\r\n` : this.#head;
    if (rest !== '') this.socket.write(rest, 'latin1');
    this.end();
    this.events.allSent();
  };

  readonly #fail = (error: Error): void => {
    this.end();
    this.events.failed(error);
  };

  readonly #close = (): void => this.#fail(new Error('the body ended before its end'));
}

export function write(socket: Socket, before: string, body: WholeBody, behind: string): boolean {
  const isOne = Buffer.isBuffer(body);
  if (isOne && body.length < oneStringBytes) {
    return socket.write(before + body.toString('latin1') + behind, 'latin1');
  }
  socket.cork();
  if (before !== '') socket.write(before, 'latin1');
  if (isOne) socket.write(body);
  else for (const part of body) socket.write(part);
  if (behind !== '') socket.write(behind, 'latin1');
  socket.uncork();
  return !socket.writableNeedDrain;
}

function ignore(): void {}
