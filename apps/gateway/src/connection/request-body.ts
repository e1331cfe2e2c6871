import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { WholeBody } from '@glovebox/http1';

/** Bytes that are all there, or what comes of the caller's body as it comes. */
export type OutgoingBody = WholeBody | StreamedBody | null;

export interface StreamedBody {
  /** Undefined: nobody knows before its end. */
  readonly length: number | undefined;
  /** Read from that call on. */
  open(): OpenedBody;
}

export interface OpenedBody {
  readonly caller: RequestBody;
  /** The caller's body itself, or what is made of it. */
  readonly stream: Readable;
}

const forwarded = new WeakSet<IncomingMessage>();

/** Its body is on its way to a destination, for as long as it moves. */
export function isForwarded(req: IncomingMessage): boolean {
  return forwarded.has(req);
}

/**
 * The body of a caller on its way to a destination. Between the two because what reads a stream by
 * iteration destroys it when the answer comes first, and a destroyed IncomingMessage is read no more: the
 * caller, who is still sending, would wait forever. From then on the rest of the body goes nowhere.
 */
export class RequestBody extends Readable {
  readonly #take = (chunk: Buffer): void => {
    if (!this.push(chunk)) this.req.pause();
  };
  readonly #finish = (): void => {
    this.push(null);
  };

  constructor(private readonly req: IncomingMessage) {
    super({ highWaterMark: 64 * 1024 });
    forwarded.add(req);
    req.on('data', this.#take).once('end', this.#finish);
  }

  /** It is the destination, not the caller, that does not go on. */
  get isHeldUp(): boolean {
    return this.req.isPaused();
  }

  override _read(): void {
    this.req.resume();
  }

  override _destroy(_error: Error | null, done: (error?: null) => void): void {
    forwarded.delete(this.req);
    this.req.off('data', this.#take).off('end', this.#finish).resume();
    done(null);
  }
}
