import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Call } from '../observing/call';

/** What is under way for a response, and must hear that its caller left. */
export interface UnderWay {
  callerLeft(): void;
}

type WriteRaw = (data: string | Buffer, encoding?: string | null, done?: unknown) => boolean;

const writeRaw = (ServerResponse.prototype as unknown as { _writeRaw: WriteRaw })._writeRaw;

/**
 * A response with what belongs to it, in fields: a WeakMap that gets an entry for each call keeps the
 * garbage collector busy with nothing else.
 */
export class CallerResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  call: Call | undefined = undefined;
  exchange: UnderWay | undefined = undefined;
  /** The end of the message, while Node puts it together. */
  private held: string | undefined = undefined;
  private afterHeld: unknown;

  /** Ends with this text, of one byte a character, and all that is left in one write. Node makes several. */
  endAtOnce(text: string): void {
    this.held = '';
    this.end(text, 'latin1');
    const { held, afterHeld } = this;
    this.held = undefined;
    if (held !== '') writeRaw.call(this, held, 'latin1', afterHeld);
  }

  /** Node's own way to the socket. Were it another one, messages would end in several writes again. */
  protected _writeRaw(data: string | Buffer, encoding?: string | null, done?: unknown): boolean {
    if (this.held === undefined) return writeRaw.call(this, data, encoding, done);
    this.held += typeof data === 'string' ? data : data.toString('latin1');
    this.afterHeld = done;
    return true;
  }
}
