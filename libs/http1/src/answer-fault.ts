/** Bytes of the head of an answer, and of its trailers. */
export const answerHeadBytesMax = 64 * 1024;
/** Bytes of all chunk extensions of an answer. */
export const chunkExtensionBytesMax = 16 * 1024;
/** Digits of the size of a chunk. */
export const chunkSizeDigitsMax = 13;

/** broken: reset or hung up before the end of the answer; invalid: not HTTP/1.1. */
export class AnswerFault extends Error {
  override readonly name = 'AnswerFault';

  constructor(
    readonly code: 'broken' | 'invalid',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function invalid(message: string): AnswerFault {
  return new AnswerFault('invalid', message);
}
