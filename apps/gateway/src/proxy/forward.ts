import type { TransformStep } from '@glovebox/definitions';
import { answeredTrailers, destinationStatusHeader } from '../connection/forwarded-headers';
import type { Destination } from '../destinations/destination';
import { Exchange, type Asking, type OutgoingRequest } from '../destinations/exchange';
import { headersAfter } from './transforms/head-steps';

interface Answering extends Asking {
  /** Name, value, name, value…: the headers that we add to the answer. */
  readonly headers: readonly string[];
  /** The steps of the answer; those about headers are applied. */
  readonly steps: readonly TransformStep[];
}

/** A smaller body goes out as one text with its head. */
const writtenAtOnceBytes = 16 * 1024;

/**
 * Sends the request and streams the answer back as it comes. Rejects with a Problem while the
 * caller has received nothing. Later faults end the caller's connection, so that half an answer is
 * not taken for a whole one.
 */
export function forward(
  destination: Destination,
  request: OutgoingRequest,
  answering: Answering,
): Promise<void> {
  return new Promise((resolve, reject) => {
    new StreamedExchange(destination, request, answering, resolve, reject).start();
  });
}

/** Passes the answer to the caller as it comes. */
class StreamedExchange extends Exchange<Answering> {
  /** Sent with the end of the answer, and with the head if it is the only part. */
  #last: Buffer | undefined;

  protected begin(status: number, raw: string[]): void {
    this.answering.res.writeHead(status, this.headersOf(status, raw));
  }

  protected override headersOf(status: number, raw: string[]): string[] {
    const { headers, steps, ours } = this.answering;
    const changed = headersAfter(steps, super.headersOf(status, raw), ours);
    changed.push(...headers, destinationStatusHeader, String(status));
    return changed;
  }

  /** A destination may wait before its first byte. The caller gets its head meanwhile. */
  headAlone(): void {
    this.answering.res.flushHeaders();
    this.limitBody();
  }

  protected part(chunk: Buffer, isLast: boolean): boolean {
    const { res } = this.answering;
    if (isLast) {
      this.#last = chunk;
      return true;
    }
    if (res.write(chunk)) return true;
    res.once('drain', this.onDrain);
    return false;
  }

  protected end(trailers: string[]): void {
    const { res, ours, steps } = this.answering;
    // A step about a header also applies to a trailer of that name.
    if (trailers.length > 0 && steps.length === 0) {
      res.addTrailers(answeredTrailers(trailers, ours));
    }
    if (!this.#last) res.end();
    else if (this.#last.length > writtenAtOnceBytes) res.end(this.#last);
    else res.endAtOnce(this.#last.toString('latin1'));
  }
}
