import { Problem } from '@glovebox/problems';
import { Collected } from '@glovebox/wire';
import type { Room } from '../../call/call-shares';
import type { Destination } from '../../destinations/destination';
import { Exchange, type Asking, type OutgoingRequest } from '../../destinations/exchange';
import { asAnswerFault } from './answer-fault';
import { tooLarge, valueOf, transformedBytesMax, transformedWithinMs } from './content';

/** The answer of a destination, read whole. */
export interface CollectedAnswer {
  readonly status: number;
  /** Name, value, name, value…, without headers that no caller gets. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

interface Collecting extends Asking {
  readonly room: Room;
}

/** Sends the request and waits for the whole answer. Undefined: the caller left. */
export async function collect(
  destination: Destination,
  request: OutgoingRequest,
  asking: Collecting,
): Promise<CollectedAnswer | undefined> {
  let exchange: CollectedExchange | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const settle = (): void => resolve(exchange?.answer);
      exchange = new CollectedExchange(destination, request, asking, settle, reject);
      exchange.start();
    });
  } finally {
    exchange?.stopClock();
  }
}

class CollectedExchange extends Exchange<Collecting> {
  answer: CollectedAnswer | undefined;
  #status = 0;
  #headers: readonly string[] = [];
  #clock: NodeJS.Timeout | undefined;
  readonly #collected = new Collected(transformedBytesMax, this.answering.room.keep);

  stopClock(): void {
    clearTimeout(this.#clock);
  }

  protected begin(status: number, raw: string[]): void {
    this.#status = status;
    this.#headers = this.headersOf(status, raw);
    if (status === 206 || status === 226 || valueOf(this.#headers, 'content-range') !== undefined) {
      throw this.#fault(new Problem('invalid_request', { detail: 'This is a part of a body.' }));
    }
    this.#clock = setTimeout(
      () => this.abort(new Problem('destination_timeout')),
      transformedWithinMs,
    );
  }

  /** The caller gets its head together with the transformed body. */
  headAlone(): void {
    this.limitBody();
  }

  protected part(chunk: Buffer): boolean {
    if (this.#collected.length + chunk.length > transformedBytesMax) {
      throw this.#fault(tooLarge());
    }
    this.#collected.add(chunk);
    return true;
  }

  #fault(problem: Problem): unknown {
    return asAnswerFault(problem, { status: this.#status, headers: this.#headers });
  }

  protected end(): void {
    this.answer = { status: this.#status, headers: this.#headers, body: this.#collected.bytes };
  }
}
