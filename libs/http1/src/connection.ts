import type { Socket } from 'node:net';
import { AnswerFault } from './answer-fault';
import { AnswerParser } from './answer-parser';
import type { AnswerReceiver } from './answer-receiver';
import { BodySender, write } from './body-sender';
import {
  headOf,
  isStreamed,
  RequestInvalid,
  type ClientRequest,
  type StreamedSource,
} from './client-request';

export interface ConnectionOwner {
  /** The exchange is over and another may begin. Called before `complete`. */
  free(connection: Connection): void;
  /**
   * Called once, when the connection ends or an upgrade takes its socket, before the receiver is
   * told.
   */
  closed(connection: Connection): void;
}

/** Runs one exchange at a time over an open TCP or TLS socket, which it owns from then on. */
export class Connection {
  readonly #parser = new AnswerParser();
  #receiver: AnswerReceiver | undefined;
  #sender: BodySender | undefined;
  #isSent = true;
  #isUpgrade = false;
  #isClosed = false;
  #used = false;
  #answerBytes = 0;

  constructor(
    private readonly socket: Socket,
    private readonly owner: ConnectionOwner,
  ) {
    socket
      .on('data', this.#read)
      .on('end', this.#end)
      .on('error', this.#break)
      .on('close', this.#hungUp)
      .on('drain', this.#goOn);
    // Such a socket reports no end any more.
    if (socket.destroyed || socket.readableEnded) process.nextTick(this.#hungUp);
  }

  /** True once it has carried a whole answer. Only such a connection can have gone stale. */
  get used(): boolean {
    return this.#used;
  }

  /** Bytes of the answer that came, with its head and its framing. */
  get answerBytes(): number {
    return this.#answerBytes;
  }

  /** Bytes of a streamed body that the kernel took. */
  get sentBytes(): number {
    return Math.max((this.#sender?.sentBytes ?? 0) - this.socket.writableLength, 0);
  }

  /** The time that it may wait for its next request. */
  get keepMs(): number {
    return this.#parser.keepMs;
  }

  /**
   * Throws RequestInvalid before a byte is written, and stays free then. If the request goes out at
   * once, the receiver is told at once. Hot path.
   */
  send(request: ClientRequest, receiver: AnswerReceiver): void {
    if (this.#isClosed || this.#receiver) throw new Error('The connection is not free.');
    const { body, upgrade, method } = request;
    const head = headOf(request);
    if (isStreamed(body)) checkReadable(body);
    this.#receiver = receiver;
    this.#isUpgrade = upgrade !== null;
    this.#isSent = false;
    this.#answerBytes = 0;
    this.#parser.expect(receiver, method === 'HEAD', this.#isUpgrade);
    if (body === null) this.socket.write(head, 'latin1');
    else if (isStreamed(body)) return this.#stream(head, body);
    else write(this.socket, head, body, '');
    this.#allSent();
  }

  resume(): void {
    if (!this.#isClosed) this.socket.resume();
  }

  /** Ends the call under way, whose receiver gets the error, and the connection. */
  abort(error: Error): void {
    const receiver = this.#receiver;
    this.#close();
    receiver?.failed(error);
  }

  /** Ends a free connection. On any other, the call ends as if the server had hung up. */
  close(): void {
    this.#hungUp();
  }

  #stream(head: string, source: StreamedSource): void {
    this.#sender ??= new BodySender(this.socket, {
      partSent: () => this.#tell('bodySent'),
      allSent: () => this.#allSent(),
      failed: (error) => this.abort(error),
    });
    this.#sender.begin(head, source);
  }

  #allSent(): void {
    this.#isSent = true;
    this.#tell('requestSent');
  }

  #tell(what: 'bodySent' | 'requestSent'): void {
    try {
      this.#receiver?.[what]();
    } catch (thrown) {
      this.abort(thrown as Error);
    }
  }

  readonly #goOn = (): void => this.#sender?.goOn();

  readonly #read = (bytes: Buffer): void => {
    const receiver = this.#receiver;
    // RFC 9112 §9.2: no request is out yet that this could answer.
    if (receiver === undefined || this.#sender?.isWaiting) return this.#hungUp();
    this.#answerBytes += bytes.length;
    try {
      const read = this.#parser.read(bytes);
      if (read === 'complete') this.#complete(receiver, bytes.length > this.#parser.behind);
      else if (read === 'paused') this.socket.pause();
      else if (read === 'switched') this.#handOver(receiver, bytes);
    } catch (thrown) {
      this.#fail(receiver, thrown as Error);
    }
  };

  readonly #end = (): void => {
    const receiver = this.#receiver;
    if (receiver === undefined || !this.#parser.endsByClose) return this.#hungUp();
    try {
      this.#complete(receiver, false);
    } catch (thrown) {
      this.#fail(receiver, thrown as Error);
    }
  };

  readonly #hungUp = (): void => {
    if (this.#receiver === undefined) this.#close();
    else this.abort(new AnswerFault('broken', 'the connection ended within a call'));
  };

  readonly #break = (cause: Error): void =>
    this.abort(new AnswerFault('broken', 'the connection broke', { cause }));

  #complete(receiver: AnswerReceiver, isMoreThere: boolean): void {
    const { trailers } = this.#parser;
    const isKept = !isMoreThere && this.#mayBeKept();
    this.#used = true;
    if (isKept) {
      this.#receiver = undefined;
      this.#parser.stop();
      this.owner.free(this);
    } else this.#close();
    receiver.complete(trailers);
  }

  #mayBeKept(): boolean {
    const { keeps, keepMs } = this.#parser;
    // RFC 9112 §9.3: a server that has answered may read the rest of the request, or not.
    const isAllOut = this.#isSent && this.socket.writableLength === 0;
    return keeps && keepMs > 0 && isAllOut && !this.#isUpgrade;
  }

  /** RFC 9110 §7.8: the other protocol begins behind the head of a 101. */
  #handOver(receiver: AnswerReceiver, bytes: Buffer): void {
    const { socket } = this;
    const { status, headers, behind } = this.#parser;
    socket
      .off('data', this.#read)
      .off('end', this.#end)
      .off('error', this.#break)
      .off('close', this.#hungUp)
      .off('drain', this.#goOn)
      .pause();
    if (bytes.length > behind) socket.unshift(bytes.subarray(behind));
    this.#isClosed = true;
    this.#forget();
    this.owner.closed(this);
    try {
      receiver.upgraded(status, headers, socket);
    } catch (thrown) {
      socket.on('error', () => undefined).destroy();
      receiver.failed(thrown as Error);
    }
  }

  #fail(receiver: AnswerReceiver, error: Error): void {
    // A throw in `complete` must not end a call that has begun since.
    if (this.#receiver === undefined || this.#receiver === receiver) this.#close();
    receiver.failed(error);
  }

  #forget(): void {
    this.#receiver = undefined;
    this.#parser.stop();
    this.#sender?.end();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forget();
    this.socket.destroy();
    this.owner.closed(this);
  }
}

function checkReadable({ stream }: StreamedSource): void {
  if (stream.destroyed || stream.readableEnded) throw new RequestInvalid('a body that was read');
}
