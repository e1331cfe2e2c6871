import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errors, type Dispatcher } from 'undici';
import type { TransformStep } from '@glovebox/definitions';
import { EgressUnreachable } from '@glovebox/egress';
import { Problem, toProblem } from '@glovebox/problems';
import type { ServiceHeaders } from '@glovebox/service-host';
import type { Call } from './call';
import type { Decision } from './decision';
import type { Carried, Connection } from './destination-connection';
import type { Destination } from './destinations';
import { answeredHeaders, answeredTrailers, destinationStatusHeader } from './forwarded-headers';
import { headersAfter } from './transforms/head-steps';
import type { OutgoingBody, RequestBody } from './request-body';
import { agreesToWebSocket, type Tunnels } from './upgrade';

export interface OutgoingRequest {
  readonly decision: Decision;
  readonly method: string;
  /** Path and query, byte for byte as the destination shall see them. */
  readonly path: string;
  readonly headers: string[];
  readonly body: OutgoingBody;
  readonly firstByteMs: number;
  readonly bodyIdleMs: number;
  /** Asks the destination to make a WebSocket of the connection; here it is kept if it agrees. */
  readonly tunnels?: Tunnels;
}

/** The caller's side of an exchange. */
export interface Asking {
  readonly res: ServerResponse;
  readonly ours: ServiceHeaders;
  readonly call: Call;
}

export interface Answering extends Asking {
  /** Name, value, name, value…: what we add to the headers of the answer. */
  readonly headers: readonly string[];
  /** Those that are about headers are done. */
  readonly steps: readonly TransformStep[];
}

export const informationalMax = 32;
const repeatable = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);
const brokenConnection = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * Sends the request and streams the answer back as it comes. Rejects with a Problem as long as the
 * caller has got nothing; later faults end the caller's connection, so that half is not taken for whole.
 */
export function forward(
  destination: Destination,
  request: OutgoingRequest,
  answering: Answering,
): Promise<void> {
  return new Promise((resolve, reject) => {
    new StreamedExchange(destination, request, answering, resolve, reject).start();
  });
}

/**
 * One request and its answer, as the handler of undici's `dispatch`.
 * Hot path: one object and one timer per request, no streams between the two sockets but their own.
 */
export abstract class Exchange<Side extends Asking = Asking> implements Carried {
  readonly #res: ServerResponse;
  #options: Dispatcher.DispatchOptions | undefined;
  #body: RequestBody | undefined;
  #connection: Connection | undefined;
  #abort: ((error?: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #phase: 'sending' | 'waiting' | 'answering' | 'ended' = 'sending';
  #status = 0;
  #begun = false;
  #isBodyUnderWay = false;
  #hasData = false;
  #wasUsed = false;
  #repeated = false;
  #informational = 0;

  /** The caller left, or its answer was given before this one: its body cannot be read any further. */
  readonly #onLeft = (): void => this.#abort?.();
  readonly #onBodyPart = (): void => {
    try {
      const isKnown = this.request.decision.isConfirmed();
      // What has begun goes on for as long as nobody knows of a change.
      if (!isKnown && !this.#isBodyUnderWay) throw unavailable();
      this.#isBodyUnderWay = true;
    } catch (thrown) {
      this.#abort?.(toProblem(thrown));
    }
  };
  /** The caller takes more again. */
  protected readonly onDrain = (): void => {
    this.#timer?.refresh();
    this.#resume?.();
  };

  constructor(
    private readonly destination: Destination,
    private readonly request: OutgoingRequest,
    protected readonly answering: Side,
    private readonly resolve: () => void,
    private readonly reject: (problem: Problem) => void,
  ) {
    this.#res = answering.res;
  }

  /** The head of the answer; a throw ends the exchange. */
  protected abstract begin(status: number, raw: readonly (Buffer | string)[]): void;
  /** No part of the body came along with the head. */
  protected abstract headAlone(): void;
  /** False: no more until `onDrain`. */
  protected abstract part(chunk: Buffer): boolean;
  protected abstract complete(trailers: readonly (Buffer | string)[]): void;

  protected abort(error: Error): void {
    this.#abort?.(error);
  }

  start(): void {
    this.answering.call.askedAt = performance.now();
    this.destination.enter();
    this.#res.once('close', this.#onLeft);
    this.destination.dispatch(() => (this.#options = this.#beginBody()), this);
  }

  #beginBody(): Dispatcher.DispatchOptions {
    const { method, path, headers, body, tunnels } = this.request;
    const streamed = typeof body === 'function' ? body() : undefined;
    this.#body = streamed?.caller;
    // Ahead of who passes it on.
    if (streamed) this.#res.req.prependListener('data', this.#onBodyPart);
    return {
      method: method as Dispatcher.HttpMethod,
      path,
      headers,
      body: streamed?.stream ?? (body as Buffer | null),
      ...(tunnels ? { upgrade: 'websocket' } : {}),
    };
  }

  carriedBy(connection: Connection): void {
    this.#connection = connection;
  }

  waits(leave: (reason?: Error) => void): void {
    this.#abort = leave;
  }

  onConnect(abort: (error?: Error) => void): void {
    // A caller that left before there was a connection would wedge it.
    if (this.#res.destroyed) return abort();
    // A throw keeps undici from writing the first byte, and spares the connection.
    if (!this.request.decision.isConfirmed()) throw unavailable();
    this.#abort = abort;
    this.#wasUsed = this.#connection?.used ?? false;
    if (this.#body) this.#limit(this.request.bodyIdleMs);
  }

  onBodySent(): void {
    if (this.#body) this.#timer?.refresh();
  }

  onRequestSent(): void {
    if (this.#phase !== 'sending') return;
    this.#phase = 'waiting';
    this.#limit(this.request.firstByteMs);
  }

  onResponseStarted(): void {
    this.#begun = true;
  }

  onUpgrade(status: number, raw: Buffer[] | string[] | null, socket: Duplex): void {
    try {
      const { tunnels, decision } = this.request;
      if (!tunnels || !agreesToWebSocket(raw ?? [])) throw new Problem('destination_unreachable');
      const headers = this.headersOf(status, raw ?? []);
      const closed = (): void => this.destination.leave();
      tunnels.open(this.#res, headers, socket, { decision, closed });
    } catch (thrown) {
      socket.destroy();
      return this.onError(toProblem(thrown));
    }
    this.answering.call.answeredAt = performance.now();
    this.#end();
    this.resolve();
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    // A switch to nothing is no answer, and none would follow.
    if (status === 101) throw new Problem('destination_unreachable');
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > informationalMax) throw new Problem('destination_unreachable');
      return true;
    }
    const { call } = this.answering;
    call.answeredAt = performance.now();
    this.#status = status;
    this.begin(status, raw);
    call.destinationStatus = status;
    this.#phase = 'answering';
    this.#resume = resume;
    // A destination that waits before its first byte has been heard all the same.
    process.nextTick(Exchange.#afterHead, this);
    return true;
  }

  protected headersOf(status: number, raw: readonly (Buffer | string)[]): string[] {
    return answeredHeaders(raw, this.answering.ours, status);
  }

  static #afterHead(exchange: Exchange): void {
    if (exchange.#phase !== 'answering') return;
    if (!exchange.#hasData) exchange.headAlone();
    exchange.#limit(exchange.request.bodyIdleMs);
  }

  onData(chunk: Buffer): boolean {
    this.#hasData = true;
    this.#timer?.refresh();
    return this.part(chunk);
  }

  onComplete(raw: (Buffer | string)[] | null): void {
    if (this.#connection?.broken && !this.#isBodiless()) {
      return this.onError(new errors.SocketError('the connection broke'));
    }
    if (this.#connection) this.#connection.used = true;
    this.#end();
    this.destination.leave();
    this.complete(raw ?? []);
    this.resolve();
  }

  onError(error: Error): void {
    if (this.#phase === 'ended') return;
    // 204, 304 and HEAD may name the length of a body that does not come: undici calls that a fault.
    if (this.#isBodiless()) return this.onComplete(null);
    if (this.#mayRepeat(error)) return this.#repeat();
    this.#end();
    this.destination.leave();
    if (this.#res.headersSent || this.#res.destroyed) {
      breakOff(this.#res);
      this.resolve();
    } else this.reject(problemOf(error));
  }

  #isBodiless(): boolean {
    if (this.#phase !== 'answering') return false;
    return this.#status === 204 || this.#status === 304 || this.request.method === 'HEAD';
  }

  /** The destination may hang up an idle connection just when it is used again. */
  #mayRepeat(error: Error & { code?: string }): boolean {
    return (
      this.#wasUsed &&
      !this.#repeated &&
      !this.#begun &&
      !this.#body &&
      repeatable.has(this.request.method) &&
      brokenConnection.has(error.code ?? '') &&
      !this.#res.destroyed
    );
  }

  #repeat(): void {
    clearTimeout(this.#timer);
    this.#repeated = true;
    this.#phase = 'sending';
    if (this.#options) this.destination.dispatchAnew(this.#options, this);
  }

  #limit(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(Exchange.#expire, ms, this);
  }

  static #expire(exchange: Exchange): void {
    const isCallersFault = exchange.#phase === 'sending' && !exchange.#body?.isHeldUp;
    exchange.#abort?.(
      isCallersFault
        ? new Problem('invalid_request', { status: 408, detail: 'The body came too slowly.' })
        : new Problem('destination_timeout'),
    );
  }

  #end(): void {
    this.#phase = 'ended';
    clearTimeout(this.#timer);
    this.#res.off('close', this.#onLeft).off('drain', this.onDrain);
    this.#res.req.off('data', this.#onBodyPart);
    this.#body?.destroy();
  }
}

/** The answer goes to the caller as it comes. */
class StreamedExchange extends Exchange<Answering> {
  protected begin(status: number, raw: readonly (Buffer | string)[]): void {
    this.answering.res.writeHead(status, this.headersOf(status, raw));
  }

  protected override headersOf(status: number, raw: readonly (Buffer | string)[]): string[] {
    const { headers, steps, ours } = this.answering;
    const changed = headersAfter(steps, super.headersOf(status, raw), ours);
    changed.push(...headers, destinationStatusHeader, String(status));
    return changed;
  }

  protected headAlone(): void {
    this.answering.res.flushHeaders();
  }

  protected part(chunk: Buffer): boolean {
    const { res } = this.answering;
    if (res.write(chunk)) return true;
    res.once('drain', this.onDrain);
    return false;
  }

  protected complete(trailers: readonly (Buffer | string)[]): void {
    const { res, ours, steps } = this.answering;
    // A step about a header is about a trailer of its name, too.
    if (trailers.length > 0 && steps.length === 0) {
      res.addTrailers(answeredTrailers(trailers, ours));
    }
    res.end();
  }
}

/** Without a length and without chunks, the end of the connection would be the end of the answer. */
function breakOff(res: ServerResponse): void {
  if (res.req.httpVersion === '1.0') res.socket?.resetAndDestroy();
  res.destroy();
}

function unavailable(): Problem {
  return new Problem('service_unavailable', { retryAfterSeconds: 1 });
}

function problemOf(error: Error): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof errors.InvalidArgumentError) {
    return new Problem('invalid_request', { detail: 'It cannot be forwarded as it is.' });
  }
  const late = error instanceof EgressUnreachable && error.code === 'ETIMEDOUT';
  return new Problem(late ? 'destination_timeout' : 'destination_unreachable', { cause: error });
}
