import type { Writable } from 'node:stream';

/**
 * Writes frames of several lanes to one stream. As long as the other side keeps up they go out as
 * they come. When it does not, the lanes take turns, a frame each, so that nobody's frame waits
 * behind all that another lane has to say. Within a lane the order stays.
 */
export class FrameLanes {
  private readonly lanes = new Map<string, Buffer[]>();
  private isEnding = false;

  constructor(private readonly stream: Writable) {
    stream.on('drain', () => this.flush());
  }

  write(lane: string, frame: Buffer): void {
    if (this.lanes.size === 0 && !this.stream.writableNeedDrain) {
      this.stream.write(frame);
      return;
    }
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
      // Set anew, a lane comes last, and this loop comes to it again.
      this.lanes.delete(lane);
      if (waiting.length > 0) this.lanes.set(lane, waiting);
      if (frame !== undefined) this.stream.write(frame);
    }
    if (this.isEnding) this.stream.end();
  }
}
