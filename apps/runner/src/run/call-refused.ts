import { describeCallError, writeValue } from '@glovebox/sandbox';

/** An answer to a call. The runner passes on that of a client unread. */
export interface CallAnswer {
  readonly ok: boolean;
  readonly value: Buffer;
  /** The hosts that the code may reach from now on. */
  readonly reach?: readonly string[] | undefined;
}

/** The runner's own answer to a call of a sandbox. It is made for customers' code to see. */
export class CallRefused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export function refusalOf(error: unknown): CallAnswer {
  const isOwn = error instanceof CallRefused;
  const shown = isOwn ? { message: error.message, code: error.code } : describeCallError(error);
  return { ok: false, value: Buffer.from(writeValue(shown)) };
}
