import { Problem } from '@glovebox/problems';
import type { Room } from '../../call/call-shares';
import type { CallerResponse } from '../../connection/caller-response';
import { withoutNames } from '../../connection/forwarded-headers';
import type { AnswerTaker } from '../forward';
import { asAnswerFault } from '../transforms/answer-fault';
import { valueOf } from '../transforms/content';
import { Scrubber, type Search } from './search';
import { scrubbedLines } from './scrubbed-message';

/** An answer of at most this length is searched whole, and sent with its new length in one write. */
const heldBytesMax = 256 * 1024;

const notAskedFor = new Set(['accept-encoding', 'range', 'if-range']);

/** Asks for a whole answer that can be searched: a part may begin within a value. */
export function askForPlain(headers: readonly string[]): string[] {
  const kept = withoutNames(headers, (lower) => notAskedFor.has(lower));
  return [...kept, 'accept-encoding', 'identity'];
}

/** The head of an answer that is sent whole, and what is there of its body. */
interface HeldAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly parts: Buffer[];
}

/** Takes the values that the call has put in out of the answer, and passes the rest on as it comes. */
export class ScrubbedAnswer implements AnswerTaker {
  readonly #scrubber: Scrubber;
  #held: HeldAnswer | undefined;
  #keptBytes = 0;
  #hasEnded = false;

  constructor(
    private readonly search: Search,
    private readonly res: CallerResponse,
    private readonly room: Pick<Room, 'keep'>,
    private readonly passedOn: AnswerTaker,
  ) {
    this.#scrubber = new Scrubber(search);
  }

  headersOf(status: number, raw: string[]): string[] {
    return scrubbedLines(this.search, this.passedOn.headersOf(status, raw));
  }

  head(status: number, headers: string[]): void {
    const length = valueOf(headers, 'content-length');
    const plain = withoutNames(headers, (lower) => ofWhole.has(lower));
    if (this.res.req.method === 'HEAD' || status === 204 || status === 304) {
      return this.passedOn.head(status, plain);
    }
    refuseUnsearchable(status, headers);
    if (length === undefined || Number(length) > heldBytesMax) {
      return this.passedOn.head(status, plain);
    }
    this.#keep(Number(length));
    this.#held = { status, headers: plain, parts: [] };
  }

  /** Its length is not known before its end. */
  headAlone(): void {
    if (!this.#held) this.passedOn.headAlone();
  }

  part(chunk: Buffer, isLast: boolean): boolean {
    this.#hasEnded = isLast;
    const bytes = this.#scrubber.write(chunk, isLast);
    if (this.#held) {
      if (bytes.length > 0) this.#held.parts.push(bytes);
      return true;
    }
    return bytes.length === 0 || this.passedOn.part(bytes, isLast);
  }

  end(trailers: string[]): void {
    if (!this.#hasEnded) this.part(Buffer.alloc(0), true);
    if (this.#held) this.#sendHeld(this.#held);
    this.passedOn.end(scrubbedLines(this.search, trailers));
  }

  /** Node puts all of it in one write: nothing is copied together. */
  #sendHeld({ status, headers, parts }: HeldAnswer): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    this.#keep(length);
    this.passedOn.head(status, [...headers, 'content-length', String(length)]);
    const last = parts.pop() ?? Buffer.alloc(0);
    for (const part of parts) this.passedOn.part(part, false);
    this.passedOn.part(last, true);
  }

  /** Expressions may be longer than the values in whose place they are. */
  #keep(bytes: number): void {
    if (bytes > this.#keptBytes) this.room.keep(bytes - this.#keptBytes);
    this.#keptBytes = Math.max(bytes, this.#keptBytes);
  }
}

/** Holds for the answer as it came alone. A digest could tell a short value. */
const ofWhole = new Set([
  'content-length',
  'content-digest',
  'content-md5',
  'digest',
  'etag',
  'repr-digest',
]);

function refuseUnsearchable(status: number, headers: readonly string[]): void {
  const isPart =
    status === 206 || status === 226 || valueOf(headers, 'content-range') !== undefined;
  const encoding = (valueOf(headers, 'content-encoding') || 'identity').trim().toLowerCase();
  if (!isPart && encoding === 'identity') return;
  const detail = isPart
    ? 'This is a part of a body.'
    : 'It is encoded, although plain bytes were asked for.';
  throw asAnswerFault(new Problem('invalid_request', { detail }), { status, headers });
}
