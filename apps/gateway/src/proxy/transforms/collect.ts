import { Problem } from '@glovebox/problems';
import { Collected } from '@glovebox/wire';
import type { Room } from '../../call/call-shares';
import { answeredHeaders, withoutNames } from '../../connection/forwarded-headers';
import type { Destination } from '../../destinations/destination';
import { exchange, type AnswerTaker, type CallerSide, type OutgoingRequest } from '../forward';
import { asAnswerFault } from './answer-fault';
import { tooLarge, valueOf, transformedBytesMax, transformedWithinMs } from './content';

/** The answer of a destination, read whole. */
export interface CollectedAnswer {
  readonly status: number;
  /** Name, value, name, value…, without headers that no caller gets. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

interface Collecting extends CallerSide {
  readonly room: Room;
}

/** Sends the request and waits for the whole answer. Undefined: the caller left. */
export async function collect(
  destination: Destination,
  request: OutgoingRequest,
  collecting: Collecting,
): Promise<CollectedAnswer | undefined> {
  const answer = new AnswerInMemory(collecting);
  const headers = askForWhole(request.headers);
  const asking = { ...request, headers, answerMs: transformedWithinMs };
  await exchange(destination, asking, collecting, answer);
  return answer.whole;
}

const notAskedFor = new Set(['accept-encoding', 'range', 'if-range']);

/**
 * Asks for a whole answer in an encoding that can be decoded here. The content of a part is
 * unknown.
 */
function askForWhole(headers: readonly string[]): string[] {
  const kept = withoutNames(headers, (lower) => notAskedFor.has(lower));
  return [...kept, 'accept-encoding', 'gzip, deflate, br'];
}

/** Keeps the answer: the caller gets its head together with the transformed body. */
class AnswerInMemory implements AnswerTaker {
  whole: CollectedAnswer | undefined;
  #status = 0;
  #headers: readonly string[] = [];
  readonly #collected: Collected;
  /** A body that came in one part, as most do. */
  #only: Buffer | undefined;

  constructor(private readonly collecting: Collecting) {
    this.#collected = new Collected(transformedBytesMax, collecting.room.keep);
  }

  headersOf(status: number, raw: string[]): string[] {
    return answeredHeaders(raw, this.collecting.ours, status);
  }

  head(status: number, headers: string[]): void {
    this.#status = status;
    this.#headers = headers;
    if (status === 206 || status === 226 || valueOf(headers, 'content-range') !== undefined) {
      throw this.#fault(new Problem('invalid_request', { detail: 'This is a part of a body.' }));
    }
  }

  headAlone(): void {}

  part(chunk: Buffer, isLast: boolean): boolean {
    if (this.#collected.length + chunk.length > transformedBytesMax) {
      throw this.#fault(tooLarge());
    }
    if (isLast && this.#collected.length === 0) {
      this.collecting.room.keep(chunk.length);
      this.#only = chunk;
    } else this.#collected.add(chunk);
    return true;
  }

  end(): void {
    const body = this.#only ?? this.#collected.bytes;
    this.whole = { status: this.#status, headers: this.#headers, body };
  }

  #fault(problem: Problem): unknown {
    return asAnswerFault(problem, { status: this.#status, headers: this.#headers });
  }
}
