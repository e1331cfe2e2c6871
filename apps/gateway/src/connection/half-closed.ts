import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { deadlines, type Limited } from '@glovebox/service-host';
import { isUpgrade } from './caller-request';
import type { CallerResponse } from './caller-response';

/** A caller that has left answers a write with a reset, which takes less time than this. */
const resetWithinMs = 500;

/** How long an answer may stand still whose caller ended its side within it. */
const standsMs = 200;

/** Nine bytes can be sent early. The last one leaves behind the time of a reset. */
const pausesMs = { first: 20, longest: 80 };

/** Node keeps the answer whose turn it is here. */
type CallerSocket = Socket & { readonly _httpMessage?: CallerResponse | null };

/**
 * Makes a server answer callers that end their side of the connection behind their requests. Node
 * alone would end the other side at once.
 */
export function answerHalfClosed(server: Server): void {
  // A field that Node does not document.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('connection', (socket: Socket) => {
    // A tunnel without TLS comes a second time, with the requests in it.
    socket.off('end', lookAtHalf).once('end', lookAtHalf);
  });
}

function lookAtHalf(this: Socket): void {
  new HalfClosed(this).look();
}

/**
 * A caller that has ended its side waits for its answer, or has left. The two look alike until
 * something is written: only a caller that has left resets the connection, and only a second write
 * hears of it. The first line of the answer is therefore sent early, in single bytes with pauses
 * between them. Behind the head nothing can be sent early. There the answer itself must move, or
 * the caller is taken to have left.
 */
class HalfClosed implements Limited {
  place = -1;
  dueAt = 0;
  #pauseMs = pausesMs.first;
  #bytes: number;
  #movedAt = performance.now();
  #firstMovedAt: number | undefined;

  constructor(private readonly socket: CallerSocket) {
    this.#bytes = socket.bytesWritten;
  }

  look(): void {
    const { socket } = this;
    const res = socket._httpMessage;
    // Node ends a connection without an answer under way, and another tells a tunnel's end.
    if (socket.destroyed || !res || isUpgrade(res.req)) return;
    // Nobody serves a request behind an answer that was to be the last.
    if (!res.call) return void socket.destroy();
    const isTried = !res.beginLine();
    const now = performance.now();
    if (socket.bytesWritten !== this.#bytes) {
      this.#bytes = socket.bytesWritten;
      this.#movedAt = now;
      this.#firstMovedAt ??= now;
      if (isTried && now - this.#firstMovedAt >= resetWithinMs) return;
    }
    // The system takes no more only while the caller holds the connection open.
    const mayStandMs = this.#firstMovedAt === undefined ? standsMs : resetWithinMs;
    const stands = socket.writableLength === 0 && now - this.#movedAt >= mayStandMs;
    if (stands) return void socket.destroy();
    deadlines.set(this, this.#pauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, pausesMs.longest);
  }

  expire(): void {
    this.look();
  }
}
