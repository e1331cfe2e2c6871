import { answerHeadBytesMax, invalid } from './answer-fault';

const CR = 0x0d;
const LF = 0x0a;
const HTAB = 0x09;
const SP = 0x20;
const DEL = 0x7f;
const blankLine = Buffer.from('\r\n\r\n');
const firstBytes = 1024;
const versions = ['HTTP/1.1 ', 'HTTP/1.0 '];
const versionLength = 9;

/**
 * Lines up to an empty one: the head of an answer, or its trailers. Lines that cannot be valid are
 * refused before the end of the block, so that nobody waits for it.
 */
export class LineBlock {
  /** The lines, each with its CRLF, once `take` has found the empty one. */
  lines = '';
  #held: Buffer | undefined;
  #length = 0;
  /** The number of last bytes that match CRLF CRLF. */
  #matched = 0;

  /**
   * Returns the index behind the block. -1: all `bytes` are taken, and the end is still to come.
   * Hot path.
   */
  takeHead(bytes: Buffer, at: number): number {
    if (this.#length === 0) {
      const end = bytes.indexOf(blankLine, at);
      if (end >= 0) {
        if (end + 4 - at > answerHeadBytesMax) throw tooLong();
        this.lines = bytes.toString('latin1', at, end + 2);
        return end + 4;
      }
    }
    const isBegin = this.#length < versionLength;
    const end = this.#takeInParts(bytes, at);
    if (isBegin) this.#checkBegin();
    return end;
  }

  takeTrailers(bytes: Buffer, at: number): number {
    // The line of the last chunk stands before an empty one.
    if (this.#length === 0) this.#matched = 2;
    return this.#takeInParts(bytes, at);
  }

  /** Call it before the next block. */
  clear(): void {
    this.lines = '';
    this.#held = undefined;
    this.#length = 0;
    this.#matched = 0;
  }

  /** Each byte is looked at once, however many come at a time. */
  #takeInParts(bytes: Buffer, from: number): number {
    let matched = this.#matched;
    let at = from;
    while (at < bytes.length && matched < 4) {
      const byte = bytes[at];
      if (byte === CR) {
        if (matched === 1 || matched === 3) throw invalid('CR without LF');
        matched += 1;
      } else if (byte === LF) {
        if (matched !== 1 && matched !== 3) throw invalid('LF without CR');
        matched += 1;
      } else {
        if (matched === 1 || matched === 3) throw invalid('CR without LF');
        if (byte === undefined || (byte < SP && byte !== HTAB) || byte === DEL) {
          throw invalid('a control in the head or the trailers');
        }
        matched = 0;
      }
      at += 1;
    }
    this.#matched = matched;
    this.#hold(bytes, from, at);
    if (matched < 4) return -1;
    this.lines = this.#held?.toString('latin1', 0, this.#length - 2) ?? '';
    return at;
  }

  #hold(bytes: Buffer, from: number, to: number): void {
    const length = this.#length + to - from;
    if (length > answerHeadBytesMax) throw tooLong();
    if (this.#held === undefined || this.#held.length < length) {
      const room = Math.min(Math.max(2 * length, firstBytes), answerHeadBytesMax);
      const grown = Buffer.allocUnsafeSlow(room);
      this.#held?.copy(grown, 0, 0, this.#length);
      this.#held = grown;
    }
    bytes.copy(this.#held, this.#length, from, to);
    this.#length = length;
  }

  /** RFC 9112 §2.3: the versions that this client speaks. */
  #checkBegin(): void {
    const begin = this.#held?.toString('latin1', 0, Math.min(this.#length, versionLength)) ?? '';
    if (!versions.some((version) => version.startsWith(begin))) throw invalid('not HTTP/1.1');
  }
}

function tooLong(): Error {
  return invalid(`the head or the trailers are longer than ${answerHeadBytesMax} bytes`);
}
