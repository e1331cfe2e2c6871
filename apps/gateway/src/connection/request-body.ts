import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { WholeBody } from '@glovebox/http1';

/** Bytes that are all there, or a stream of the caller's body. */
export type OutgoingBody = WholeBody | StreamedBody | null;

interface StreamedBody {
  /** Undefined: not known before its end. */
  readonly length: number | undefined;
  /** Starts to read the body. `beforePart` is called before each part is passed on. */
  open(beforePart: () => void): OpenedBody;
}

export interface OpenedBody {
  readonly caller: RequestBody;
  /** The caller's body itself, or a stream made from it. */
  readonly stream: Readable;
}

const forwarded = new WeakSet<IncomingMessage>();

/** True while the body is on its way to a destination. */
export function isForwarded(req: IncomingMessage): boolean {
  return forwarded.has(req);
}

/**
 * The body of a caller on its way to a destination. It stands between the two because a reader by
 * iteration destroys its stream when the answer comes first, and Node reads no more of a destroyed
 * IncomingMessage: a caller that is still sending would wait for ever. From then on the rest of the
 * body is dropped.
 */
export class RequestBody extends Readable {
  readonly #take = (chunk: Buffer): void => {
    this.beforePart();
    if (this.destroyed) return;
    if (!this.push(chunk)) this.req.pause();
  };
  readonly #finish = (): void => {
    this.push(null);
  };

  constructor(
    private readonly req: IncomingMessage,
    private readonly beforePart: () => void,
  ) {
    super({ highWaterMark: 64 * 1024 });
    forwarded.add(req);
    req.on('data', this.#take).once('end', this.#finish);
    // Its beginning was read first, and the read that crossed the limit was the last one.
    if (req.readableEnded) this.#finish();
  }

  /** True when the destination, not the caller, has stopped. */
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
