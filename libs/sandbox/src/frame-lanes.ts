import type { Writable } from 'node:stream';

const waitingBytesMax = 256 * 1024 * 1024;

interface Lane {
  readonly frames: (readonly Buffer[])[];
  bytes: number;
}

/**
 * Writes frames of several lanes to one stream. While the other side keeps up, frames go out as
 * they come. When it does not, the lanes take turns, a frame each, so that no frame waits behind
 * all frames of another lane. The order within a lane stays.
 */
export class FrameLanes {
  private readonly lanes = new Map<string, Lane>();
  private waitingBytes = 0;
  private isEnding = false;

  constructor(private readonly stream: Writable) {
    stream.on('drain', () => this.flush());
  }

  /**
   * The other side is far behind with this lane: no further run of it should be given to that side,
   * or taken from it. A lane may fill half of what the others leave, so one alone stops no other.
   */
  isFull(lane: string): boolean {
    const own = this.lanes.get(lane)?.bytes ?? 0;
    return own > (waitingBytesMax - (this.waitingBytes - own)) / 2;
  }

  /** A frame may come in pieces. Nothing is written between them. */
  write(lane: string, ...frame: readonly Buffer[]): void {
    if (this.lanes.size === 0 && !this.stream.writableNeedDrain) {
      return writePieces(this.stream, frame);
    }
    const waiting = this.lanes.get(lane) ?? { frames: [], bytes: 0 };
    this.lanes.set(lane, waiting);
    waiting.frames.push(frame);
    this.count(waiting, sizeOf(frame));
  }

  /** Ends the stream behind the last frame. */
  end(): void {
    this.isEnding = true;
    this.flush();
  }

  private flush(): void {
    for (const [lane, waiting] of this.lanes) {
      if (this.stream.writableNeedDrain) return;
      const frame = waiting.frames.shift();
      // A lane that is set again comes last, and this loop reaches it again.
      this.lanes.delete(lane);
      if (waiting.frames.length > 0) this.lanes.set(lane, waiting);
      if (frame === undefined) continue;
      this.count(waiting, -sizeOf(frame));
      writePieces(this.stream, frame);
    }
    if (this.isEnding) this.stream.end();
  }

  private count(lane: Lane, bytes: number): void {
    lane.bytes += bytes;
    this.waitingBytes += bytes;
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
