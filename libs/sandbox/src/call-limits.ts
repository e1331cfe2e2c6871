/** Calls of `req.svc` that one run may have open. Further calls wait; none is refused. */
export const svcCallsMax = 8;
/** Bytes of the open calls of one run together. A larger call waits until no other is open. */
export const svcBytesMax = 4 * 1024 * 1024;

/** Counts the open calls of a run, on either side of the channel. */
export class OpenCalls {
  private calls = 0;
  private bytes = 0;

  hasRoomFor(bytes: number): boolean {
    if (this.calls === 0) return true;
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
