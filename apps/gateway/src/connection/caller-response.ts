import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Call } from '../observing/call';

/** Work for a response that must hear when the caller leaves. */
export interface UnderWay {
  callerLeft(): void;
}

type WriteRaw = (data: string | Buffer, encoding?: string | null, done?: unknown) => boolean;

const writeRaw = (ServerResponse.prototype as unknown as { _writeRaw: WriteRaw })._writeRaw;

/**
 * A response that carries its state in fields. A WeakMap with an entry per call would keep the
 * garbage collector busy.
 */
export class CallerResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  call: Call | undefined = undefined;
  exchange: UnderWay | undefined = undefined;
  /** The end of the message, while Node puts it together. */
  private held: string | undefined = undefined;
  private afterHeld: unknown;

  /**
   * Ends with a text of one byte per character, and writes everything left in one write. Node makes
   * several.
   */
  endAtOnce(text: string): void {
    this.held = '';
    this.end(text, 'latin1');
    const { held, afterHeld } = this;
    this.held = undefined;
    if (held !== '') writeRaw.call(this, held, 'latin1', afterHeld);
  }

  /** Ends an answer that has no end. Without chunks, the end of the connection would be its end. */
  breakOff(): void {
    const { req, socket } = this;
    // Node cannot reset a socket that is being shut down, and would never close it then.
    const isShutDown = socket?.writableEnded === true && socket.writableLength === 0;
    if (req.httpVersion === '1.0' && !isShutDown) socket?.resetAndDestroy();
    this.destroy();
  }

  /**
   * Overrides Node's own method that writes to the socket. Without it messages end in several
   * writes.
   */
  protected _writeRaw(data: string | Buffer, encoding?: string | null, done?: unknown): boolean {
    if (this.held === undefined) return writeRaw.call(this, data, encoding, done);
    this.held += typeof data === 'string' ? data : data.toString('latin1');
    this.afterHeld = done;
    return true;
  }
}
