import type { Socket } from 'node:net';
import type { AnswerReceiver } from './answer-receiver';
import type { ClientRequest } from './client-request';

export interface ConnectionOwner {
  /** The exchange is over and another may begin; told before `complete`. */
  free(connection: Connection): void;
  /** Told once, whenever it ends, before its receiver hears of it; also when an upgrade hands the socket over. */
  closed(connection: Connection): void;
}

/** One exchange at a time over an open TCP or TLS socket, which is the connection's from now on. */
export class Connection {
  constructor(
    private readonly socket: Socket,
    private readonly owner: ConnectionOwner,
  ) {}

  /** Has carried a whole answer: only such a one can have gone stale. */
  get used(): boolean {
    return false;
  }

  /** How long it may wait for its next request: less than the server says, 0: it is not kept. */
  get keepMs(): number {
    return 4_000;
  }

  /** Throws RequestInvalid before a byte is written, and stays free then. */
  send(_request: ClientRequest, _receiver: AnswerReceiver): void {
    this.owner.free(this);
  }

  resume(): void {
    this.socket.resume();
  }

  /** Ends the call under way, whose receiver gets the error, and the connection. */
  abort(error: Error): void {
    this.socket.destroy(error);
  }

  /** Of a free one. */
  close(): void {
    this.socket.destroy();
  }
}
