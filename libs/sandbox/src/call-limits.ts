/** Calls of `req.svc` that one run may have open. Further calls wait; none is refused. */
export const svcCallsMax = 8;
/** Bytes of the arguments of one call, and of the open calls of one run together. */
export const svcBytesMax = 4 * 1024 * 1024;
/** Members of lists and objects in the arguments of one call. Each costs its reader memory. */
export const svcMembersMax = 100_000;
/**
 * Members of lists and objects in what code returns or throws. A transform may return a body of
 * 100,000 values as it came, also if each of them is an empty list, which counts twice.
 */
export const resultMembersMax = 250_000;
/** Bytes of one message of a debugger, or of one answer to it. */
export const inspectedBytesMax = 4 * 1024 * 1024;

const tooLarge = { status: 413, code: 'payload_too_large' } as const;

/** The answer to a call whose arguments are above a limit, as the catalogue of errors has it. */
export const callTooLarge = {
  message: 'The arguments of the call are too large.',
  ...tooLarge,
  data: { title: 'The payload is too large.', ...tooLarge },
} as const;

/** Counts the open calls of a run, on either side of the channel. */
export class OpenCalls {
  private calls = 0;
  private bytes = 0;

  hasRoomFor(bytes: number): boolean {
    return this.calls < svcCallsMax && this.bytes + bytes <= svcBytesMax;
  }

  open(bytes: number): void {
    this.calls += 1;
    this.bytes += bytes;
  }

  close(bytes: number): void {
    this.calls -= 1;
    this.bytes -= bytes;
  }
}
