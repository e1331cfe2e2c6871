/** Bytes that are kept of one body. */
export const keptBytesMax = 64 * 1024;

const firstBytes = 4 * 1024;
const nothing = Buffer.alloc(0);

/** The beginning of a body that goes by, in a buffer of its own. */
export class KeptBody {
  /** Of the whole body. */
  bytes = 0;
  #buffer = nothing;

  add(chunk: Uint8Array): void {
    const kept = Math.min(this.bytes, keptBytesMax);
    const more = Math.min(chunk.length, keptBytesMax - kept);
    this.bytes += chunk.length;
    if (more === 0) return;
    if (kept + more > this.#buffer.length) this.#grow(kept, kept + more);
    this.#buffer.set(chunk.subarray(0, more), kept);
  }

  get beginning(): Buffer {
    return this.#buffer.subarray(0, Math.min(this.bytes, keptBytesMax));
  }

  #grow(kept: number, needed: number): void {
    const size = Math.max(firstBytes, needed, Math.min(2 * this.#buffer.length, keptBytesMax));
    const larger = Buffer.allocUnsafeSlow(size);
    larger.set(this.#buffer.subarray(0, kept));
    this.#buffer = larger;
  }
}
