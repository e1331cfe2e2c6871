import type { Socket } from 'node:net';
import { EgressUnreachable } from '@glovebox/egress';
import {
  AnswerFault,
  RequestInvalid,
  type AnswerReceiver,
  type ClientRequest,
  type Connection,
} from '@glovebox/http1';
import { Problem, toProblem } from '@glovebox/problems';
import type { ServiceHeaders } from '@glovebox/wire';
import { callerHasLeft } from '../call/call-shares';
import type { Decision } from '../call/decision';
import type { CallerResponse, UnderWay } from '../connection/caller-response';
import { deadlines, type Limited } from '../connection/deadlines';
import { answeredHeaders } from '../connection/forwarded-headers';
import type { OutgoingBody, RequestBody, StreamedBody } from '../connection/request-body';
import { agreesToWebSocket, type Tunnels } from '../connection/upgrade';
import type { Call } from '../observing/call';
import type { Carried, Destination } from './destination';

export interface OutgoingRequest {
  readonly decision: Decision;
  readonly method: string;
  readonly host: string;
  /** Path and query as the destination gets them, byte for byte. */
  readonly path: string;
  readonly headers: string[];
  readonly body: OutgoingBody;
  readonly firstByteMs: number;
  readonly bodyIdleMs: number;
  /** Asks the destination for a WebSocket, whose tunnel is kept here if it agrees. */
  readonly tunnels: Tunnels | null;
}

/** The caller's side of an exchange. */
export interface Asking {
  readonly res: CallerResponse;
  readonly ours: ServiceHeaders;
  readonly call: Call;
}

const informationalMax = 32;
const repeatable = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);
/**
 * One request and its answer. Hot path: one object per request that holds all its state in fields,
 * and no streams between the two sockets but their own.
 */
export abstract class Exchange<Side extends Asking = Asking>
  implements AnswerReceiver, Carried, Limited, UnderWay
{
  place = -1;
  dueAt = 0;
  readonly #res: CallerResponse;
  #body: RequestBody | undefined;
  #connection: Connection | undefined;
  #phase: 'sending' | 'waiting' | 'answering' | 'ended' = 'sending';
  #begun = false;
  #isBodyUnderWay = false;
  #wasUsed = false;
  #repeated = false;
  #informational = 0;
  #onBodyPart: (() => void) | undefined;
  #onDrain: (() => void) | undefined;

  constructor(
    private readonly destination: Destination,
    private readonly request: OutgoingRequest,
    protected readonly answering: Side,
    private readonly resolve: () => void,
    private readonly reject: (problem: Problem) => void,
  ) {
    this.#res = answering.res;
  }

  /** The head of the answer. A throw ends the exchange. */
  protected abstract begin(status: number, raw: string[]): void;
  /** False: no more until `onDrain`. */
  protected abstract part(chunk: Buffer, isLast: boolean): boolean;
  protected abstract end(trailers: string[]): void;
  abstract headAlone(): void;

  start(): void {
    // The caller left during an earlier wait, and is not reported again.
    if (this.#res.destroyed) throw callerHasLeft();
    this.answering.call.askedAt = performance.now();
    this.destination.enter();
    this.#res.exchange = this;
    this.destination.carry(this);
  }

  /** A throw leaves the connection unused. */
  carriedBy(connection: Connection): void {
    if (!this.request.decision.isConfirmed()) throw unavailable();
    this.#wasUsed = connection.used;
    this.#connection = connection;
    connection.send(this.#outgoing(), this);
    if (this.#body && this.#phase === 'sending') this.#limit(this.request.bodyIdleMs);
  }

  #outgoing(): ClientRequest {
    const { method, host, path, headers, body, tunnels } = this.request;
    return {
      method,
      host,
      target: path,
      headers,
      body: body !== null && 'open' in body ? this.#opened(body) : body,
      upgrade: tunnels ? 'websocket' : null,
    };
  }

  #opened({ length, open }: StreamedBody): ClientRequest['body'] {
    const { caller, stream } = open();
    this.#body = caller;
    // Runs before the listener that passes the part on.
    this.#onBodyPart = () => this.#confirmPart();
    this.#res.req.prependListener('data', this.#onBodyPart);
    return { stream, length };
  }

  #confirmPart(): void {
    try {
      const isKnown = this.request.decision.isConfirmed();
      // A body under way goes on as long as nobody knows of a change.
      if (!isKnown && !this.#isBodyUnderWay) throw unavailable();
      this.#isBodyUnderWay = true;
    } catch (thrown) {
      this.abort(toProblem(thrown));
    }
  }

  bodySent(): void {
    this.#limit(this.request.bodyIdleMs);
  }

  requestSent(): void {
    if (this.#phase !== 'sending') return;
    this.#phase = 'waiting';
    this.#limit(this.request.firstByteMs);
  }

  begun(): void {
    this.#begun = true;
  }

  informational(): void {
    this.#informational += 1;
    if (this.#informational > informationalMax) throw new Problem('destination_unreachable');
  }

  upgraded(status: number, raw: string[], socket: Socket): void {
    const { tunnels, decision } = this.request;
    this.#connection = undefined;
    try {
      if (!tunnels || !agreesToWebSocket(raw)) throw new Problem('destination_unreachable');
      const closed = (): void => this.destination.leave();
      tunnels.open(this.#res, this.headersOf(status, raw), socket, { decision, closed });
    } catch (thrown) {
      socket.destroy();
      return this.failed(toProblem(thrown));
    }
    this.#answered(status);
    this.#over();
    this.resolve();
  }

  head(status: number, raw: string[]): void {
    this.#answered(status);
    this.begin(status, raw);
    this.#phase = 'answering';
  }

  #answered(status: number): void {
    const { call } = this.answering;
    call.answeredAt = performance.now();
    call.destinationStatus = status;
  }

  protected headersOf(status: number, raw: string[]): string[] {
    return answeredHeaders(raw, this.answering.ours, status);
  }

  data(chunk: Buffer, isLast: boolean): boolean {
    if (!isLast) this.limitBody();
    return this.part(chunk, isLast);
  }

  protected limitBody(): void {
    this.#limit(this.request.bodyIdleMs);
  }

  /** Called when the caller takes more again. */
  protected get onDrain(): () => void {
    return (this.#onDrain ??= () => {
      this.limitBody();
      this.#connection?.resume();
    });
  }

  complete(trailers: string[]): void {
    this.#over();
    this.destination.leave();
    this.end(trailers);
    this.resolve();
  }

  failed(error: Error): void {
    if (this.#phase === 'ended') return;
    if (this.#mayRepeat(error)) return this.#repeat();
    this.#over();
    this.destination.leave();
    if (this.#res.headersSent || this.#res.destroyed) {
      breakOff(this.#res);
      this.resolve();
    } else this.reject(problemOf(error));
  }

  /** Also called when the caller got another answer first: its body cannot be read any further. */
  callerLeft(): void {
    this.abort(callerHasLeft());
  }

  protected abort(error: Error): void {
    if (this.#phase === 'ended') return;
    if (this.#connection) return this.#connection.abort(error);
    this.destination.withdraw(this);
    this.failed(error);
  }

  /** The destination may hang up an idle connection just when it is used again. */
  #mayRepeat(error: Error): boolean {
    return (
      error instanceof AnswerFault &&
      error.code === 'broken' &&
      this.#wasUsed &&
      !this.#repeated &&
      !this.#begun &&
      !this.#body &&
      repeatable.has(this.request.method) &&
      !this.#res.destroyed
    );
  }

  #repeat(): void {
    deadlines.clear(this);
    this.#repeated = true;
    this.#connection = undefined;
    this.#phase = 'sending';
    this.destination.carryAnew(this);
  }

  #limit(ms: number): void {
    deadlines.set(this, ms);
  }

  expire(): void {
    const isCallersFault = this.#phase === 'sending' && !this.#body?.isHeldUp;
    this.abort(
      isCallersFault
        ? new Problem('invalid_request', { status: 408, detail: 'The body came too slowly.' })
        : new Problem('destination_timeout'),
    );
  }

  #over(): void {
    this.#phase = 'ended';
    this.#connection = undefined;
    this.#res.exchange = undefined;
    deadlines.clear(this);
    if (this.#onDrain) this.#res.off('drain', this.#onDrain);
    if (this.#onBodyPart) this.#res.req.off('data', this.#onBodyPart);
    this.#body?.destroy();
  }
}

/**
 * Without a length and chunks, the end of the connection would be taken for the end of the answer.
 */
function breakOff(res: CallerResponse): void {
  if (res.req.httpVersion === '1.0') res.socket?.resetAndDestroy();
  res.destroy();
}

function unavailable(): Problem {
  return new Problem('service_unavailable', { retryAfterSeconds: 1 });
}

function problemOf(error: Error): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof RequestInvalid) {
    return new Problem('invalid_request', { detail: 'The request cannot be forwarded as it is.' });
  }
  const late = error instanceof EgressUnreachable && error.code === 'ETIMEDOUT';
  return new Problem(late ? 'destination_timeout' : 'destination_unreachable', { cause: error });
}
