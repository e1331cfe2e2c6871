import type { Socket } from 'node:net';

const handshakeTimeoutMs = 2_000;
const handshakesMax = 256;

type Ended = 'the handshake took too long' | 'too many handshakes at once';

/**
 * The handshakes under way. A stranger may open connections without end and say nothing, or say it
 * byte by byte: each handshake has a deadline, and when there are too many, the address that holds
 * the most of them loses its oldest.
 */
export class Handshakes {
  private readonly deadlines = new Map<Socket, NodeJS.Timeout>();

  constructor(private readonly onEnd: (reason: Ended) => void) {}

  begin(socket: Socket): void {
    if (this.deadlines.size >= handshakesMax) {
      this.end(this.oldestOfTheBusiest(), 'too many handshakes at once');
    }
    const end = (): void => this.end(socket, 'the handshake took too long');
    this.deadlines.set(socket, setTimeout(end, handshakeTimeoutMs));
    socket.once('close', () => this.forget(socket));
  }

  /** `secured` is the socket of TLS upon the one that began. */
  succeed(secured: Socket): void {
    this.forget([...this.deadlines.keys()].find((socket) => isSameConnection(socket, secured)));
  }

  private end(socket: Socket | undefined, reason: Ended): void {
    this.forget(socket);
    this.onEnd(reason);
    socket?.destroy();
  }

  private forget(socket: Socket | undefined): void {
    if (socket === undefined) return;
    clearTimeout(this.deadlines.get(socket));
    this.deadlines.delete(socket);
  }

  private oldestOfTheBusiest(): Socket | undefined {
    const byAddress = new Map<string | undefined, { oldest: Socket; count: number }>();
    for (const socket of this.deadlines.keys()) {
      const { oldest, count } = byAddress.get(socket.remoteAddress) ?? { oldest: socket, count: 0 };
      byAddress.set(socket.remoteAddress, { oldest, count: count + 1 });
    }
    return [...byAddress.values()].sort((a, b) => b.count - a.count)[0]?.oldest;
  }
}

function isSameConnection(one: Socket, other: Socket): boolean {
  return (
    one.remotePort === other.remotePort &&
    one.remoteAddress === other.remoteAddress &&
    one.localAddress === other.localAddress
  );
}
