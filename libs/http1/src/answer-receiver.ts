import type { Socket } from 'node:net';

/**
 * Is told of an answer by its connection. Any of these but `failed` may throw: the connection then ends
 * and `failed` gets what was thrown. Nothing is told after `complete`, `upgraded` and `failed`.
 */
export interface AnswerReceiver {
  /** The first byte of an answer is there. */
  begun(): void;
  /** 1xx but 101; any number of them. */
  informational(status: number): void;
  /** Name, value, name, value… as received, in latin1, with those about the connection. */
  head(status: number, headers: string[]): void;
  /** All that came was read: the head, and no part of the body with it. */
  headAlone(): void;
  /** False: no more until `connection.resume()`. isLast: `complete` follows at once, in any case. */
  data(chunk: Buffer, isLast: boolean): boolean;
  /** By then the connection is free (or closed): the receiver may send again over it. */
  complete(trailers: string[]): void;
  /**
   * 101 was answered to `upgrade`. The socket is the receiver's: paused, what came behind the head is
   * unshifted, and no listener of ours is left.
   */
  upgraded(status: number, headers: string[], socket: Socket): void;
  /** A part of a streamed body went out. */
  bodySent(): void;
  /** All of the request went out. */
  requestSent(): void;
  failed(error: Error): void;
}
