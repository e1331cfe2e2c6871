import { ServerResponse, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Call } from '../observing/call';

/** Work for a response that must hear when the caller leaves. */
export interface UnderWay {
  callerLeft(): void;
}

type WriteRaw = (data: string | Buffer, encoding?: string | null, done?: unknown) => boolean;
type StoreHeader = (firstLine: string, headers?: OutgoingHttpHeaders | readonly string[]) => void;

const { _writeRaw: writeRaw, _storeHeader: storeHeader } = ServerResponse.prototype as unknown as {
  _writeRaw: WriteRaw;
  _storeHeader: StoreHeader;
};

/** A smaller body goes out as one text with its head. */
const writtenAtOnceBytes = 16 * 1024;

/** The beginning of every answer. */
const version = 'HTTP/1.1 ';

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
  /** The bytes of the first line that were sent before the head. */
  private begunBytes = 0;

  /** Ends with these bytes. Small ones leave in one write with all that is left. Node makes several. */
  endAtOnce(bytes: Buffer): void {
    if (bytes.length > writtenAtOnceBytes) return void this.end(bytes);
    this.held = '';
    this.end(bytes.toString('latin1'), 'latin1');
    const { held, afterHeld } = this;
    this.held = undefined;
    if (held !== '') writeRaw.call(this, held, 'latin1', afterHeld);
  }

  /** Sends the next byte that all answers begin with. False: there is none to send early. */
  beginLine(): boolean {
    if (this.headersSent || this.begunBytes === version.length) return false;
    this.socket?.write(version.charAt(this.begunBytes));
    this.begunBytes += 1;
    return this.begunBytes < version.length;
  }

  /** A caller whose answer has begun early has sent its body. */
  override writeContinue(done?: () => void): void {
    if (this.begunBytes === 0) super.writeContinue(done);
  }

  /** Ends an answer that has no end. Without chunks, the end of the connection would be its end. */
  breakOff(): void {
    // In a tunnel a missing close_notify tells the same.
    const isTls = this.socket instanceof TLSSocket;
    if (this.req.httpVersion === '1.0' && !isTls) this.socket?.resetAndDestroy();
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

  /** Overrides Node's own method that makes the head. */
  protected _storeHeader(
    firstLine: string,
    headers?: OutgoingHttpHeaders | readonly string[],
  ): void {
    storeHeader.call(this, firstLine.slice(this.begunBytes), headers);
  }
}
