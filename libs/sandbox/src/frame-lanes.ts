import type { Writable } from 'node:stream';

const waitingBytesMax = 64 * 1024 * 1024;

/**
 * Writes frames of several lanes to one stream. While the other side keeps up, frames go out as
 * they come. When it does not, the lanes take turns, a frame each, so that no frame waits behind
 * all frames of another lane. The order within a lane stays.
 */
export class FrameLanes {
  private readonly lanes = new Map<string, (readonly Buffer[])[]>();
  private waitingBytes = 0;
  private isEnding = false;

  constructor(private readonly stream: Writable) {
    stream.on('drain', () => this.flush());
  }

  /** The other side is far behind: no further run should be given to it, or taken from it. */
  get isFull(): boolean {
    return this.waitingBytes > waitingBytesMax;
  }

  /** A frame may come in pieces. Nothing is written between them. */
  write(lane: string, ...frame: readonly Buffer[]): void {
    if (this.lanes.size === 0 && !this.stream.writableNeedDrain) {
      return writePieces(this.stream, frame);
    }
    this.waitingBytes += sizeOf(frame);
    const waiting = this.lanes.get(lane);
    if (waiting === undefined) this.lanes.set(lane, [frame]);
    else waiting.push(frame);
  }

  /** Ends the stream behind the last frame. */
  end(): void {
    this.isEnding = true;
    this.flush();
  }

  private flush(): void {
    for (const [lane, waiting] of this.lanes) {
      if (this.stream.writableNeedDrain) return;
      const frame = waiting.shift();
      // A lane that is set again comes last, and this loop reaches it again.
      this.lanes.delete(lane);
      if (waiting.length > 0) this.lanes.set(lane, waiting);
      if (frame === undefined) continue;
      this.waitingBytes -= sizeOf(frame);
      writePieces(this.stream, frame);
    }
    if (this.isEnding) this.stream.end();
  }
}

const sizeOf = (frame: readonly Buffer[]): number =>
  frame.reduce((bytes, piece) => bytes + piece.length, 0);

/** Hands all pieces to the kernel in one call. */
export function writePieces(
  stream: Writable,
  pieces: readonly Buffer[],
  written?: () => void,
): void {
  if (pieces.length > 1) stream.cork();
  pieces.forEach((piece, nth) =>
    stream.write(piece, nth === pieces.length - 1 ? written : undefined),
  );
  if (pieces.length > 1) stream.uncork();
}
