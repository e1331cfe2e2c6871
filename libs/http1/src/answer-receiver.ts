import type { Socket } from 'node:net';

/**
 * Receives an answer from its connection. Every method but `failed` may throw: the connection then
 * ends and `failed` gets the error. No call follows `complete`, `upgraded` or `failed`.
 */
export interface AnswerReceiver {
  /** The first byte of an answer is there. */
  begun(): void;
  /** 1xx but 101; any number of them. */
  informational(status: number): void;
  /** Name, value, name, value… as received, in latin1, with headers about the connection. */
  head(status: number, headers: string[]): void;
  /** The bytes read so far hold the head and no part of the body. */
  headAlone(): void;
  /**
   * False: no more until `connection.resume()`. isLast: `complete` follows at once, in any case.
   */
  data(chunk: Buffer, isLast: boolean): boolean;
  /** The connection is already free or closed, so the receiver may send over it again. */
  complete(trailers: string[]): void;
  /**
   * The server answered 101 to `upgrade`. The socket is now the receiver's: paused, with the bytes
   * behind the head unshifted and without listeners of ours.
   */
  upgraded(status: number, headers: string[], socket: Socket): void;
  /** A part of a streamed body went out. */
  bodySent(): void;
  /** The whole request went out. */
  requestSent(): void;
  failed(error: Error): void;
}
