/** Bytes of the head of an answer, and of its trailers. */
export const answerHeadBytesMax = 64 * 1024;
/** Bytes of all chunk extensions of an answer. */
export const chunkExtensionBytesMax = 16 * 1024;
/** Digits of the size of a chunk. */
export const chunkSizeDigitsMax = 13;

/**
 * broken: reset or hung up before the end of the answer; invalid: not HTTP/1.1; tls: a record of TLS
 * in the place of an answer. The message is one of ours: nothing of the answer is in it.
 */
export class AnswerFault extends Error {
  override readonly name = 'AnswerFault';

  constructor(
    readonly code: 'broken' | 'invalid' | 'tls',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function invalid(message: string): AnswerFault {
  return new AnswerFault('invalid', message);
}
