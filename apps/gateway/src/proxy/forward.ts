import type { Socket } from 'node:net';
import type { TransformStep } from '@glovebox/definitions';
import { EgressUnreachable } from '@glovebox/egress';
import {
  AnswerFault,
  RequestInvalid,
  type AnswerReceiver,
  type ClientRequest,
  type Connection,
} from '@glovebox/http1';
import { Problem, toProblem, type Failure, type FailurePhase } from '@glovebox/problems';
import { deadlines, type Limited } from '@glovebox/service-host';
import type { ServiceHeaders } from '@glovebox/wire';
import { callerHasLeft, type Room } from '../call/call-shares';
import type { ProxyDecision } from '../call/caller';
import { recordProblem } from '../call/failures';
import { withOriginHeaders } from '../call/pages';
import type { CallerResponse, UnderWay } from '../connection/caller-response';
import {
  answeredHeaders,
  answeredTrailers,
  destinationStatusHeader,
} from '../connection/forwarded-headers';
import type { OutgoingBody, RequestBody } from '../connection/request-body';
import { agreesToWebSocket, type Tunnels } from '../connection/upgrade';
import type { ConnectionWaiter, Destination } from '../destinations/destination';
import type { Call } from '../observing/call';
import { whereBroken } from './broken-answer';
import { ScrubbedAnswer } from './scrub/scrubbed-answer';
import type { Search } from './scrub/search';
import { headersAfter } from './transforms/head-steps';

export interface OutgoingRequest extends Omit<ClientRequest, 'body' | 'upgrade'> {
  readonly decision: ProxyDecision;
  readonly body: OutgoingBody;
  readonly firstByteMs: number;
  readonly bodyIdleMs: number;
  /** From the head of the answer to its end. Undefined: as long as it moves. */
  readonly answerMs?: number;
  /** Asks the destination for a WebSocket, whose tunnel is kept here if it agrees. */
  readonly tunnels: Tunnels | null;
}

/** The caller's side of an exchange. */
export interface CallerSide {
  readonly res: CallerResponse;
  readonly ours: ServiceHeaders;
  readonly call: Call;
}

interface StreamedAnswer extends CallerSide {
  /** Name, value, name, value…: the headers that we add to the answer. */
  readonly headers: readonly string[];
  /** The steps of the answer; those about headers are applied. */
  readonly steps: readonly TransformStep[];
  readonly room: Pick<Room, 'keep'>;
  /** For what must not come back. */
  readonly search: Search | undefined;
}

/**
 * Sends the request and streams the answer back as it comes. Rejects with a Problem while the
 * caller has received nothing. Later faults end the caller's connection, so that half an answer is
 * not taken for a whole one.
 */
export function forward(
  destination: Destination,
  request: OutgoingRequest,
  answer: StreamedAnswer,
): Promise<void> {
  const toCaller = new AnswerToCaller(answer);
  const { search } = answer;
  const taker = search ? new ScrubbedAnswer(search, answer.res, answer.room, toCaller) : toCaller;
  return exchange(destination, request, answer, taker);
}

/** Takes an answer as it comes. A throw ends the exchange. */
export interface AnswerTaker {
  /** The headers of the destination's that are passed on, and ours. */
  headersOf(status: number, raw: string[]): string[];
  head(status: number, headers: string[]): void;
  /** The body may be late. */
  headAlone(): void;
  /** False: no more until the caller's response has drained. */
  part(chunk: Buffer, isLast: boolean): boolean;
  end(trailers: string[]): void;
}

/**
 * Sends the request and gives its answer to the taker. Resolves at the end, and where a fault finds
 * a caller that has left or has a part of the answer: its connection is broken off.
 */
export function exchange(
  destination: Destination,
  request: OutgoingRequest,
  caller: CallerSide,
  answer: AnswerTaker,
): Promise<void> {
  return new Promise((resolve, reject) => {
    new Exchange(destination, request, caller, answer, resolve, reject).start();
  });
}

/** The phases of an exchange as a cause names them. */
const phases = {
  sending: 'send',
  waiting: 'first_byte',
  answering: 'body',
  ended: 'body',
} as const;

const informationalMax = 32;
const repeatable = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

/**
 * One request and its answer, in the order of its methods. Hot path: one object per request that
 * holds all its state in fields, and no streams between the two sockets but their own.
 */
class Exchange implements ConnectionWaiter, AnswerReceiver, Limited, UnderWay {
  /** With `dueAt`, its entry in the list of deadlines. */
  place = -1;
  dueAt = 0;
  readonly #res: CallerResponse;
  #phase: 'sending' | 'waiting' | 'answering' | 'ended' = 'sending';
  #connection: Connection | undefined;
  /** The connection has carried a call before, and may have gone stale. */
  #wasUsed = false;
  #isRepeated = false;
  /** The caller's body, where it is streamed. */
  #body: RequestBody | undefined;
  #isBodyUnderWay = false;
  /** The first byte of an answer is there. */
  #hasBegun = false;
  #informational = 0;
  #answerEndsAt = Infinity;
  #onDrain: (() => void) | undefined;

  constructor(
    private readonly destination: Destination,
    private readonly request: OutgoingRequest,
    private readonly caller: CallerSide,
    private readonly answer: AnswerTaker,
    private readonly resolve: () => void,
    private readonly reject: (problem: Problem) => void,
  ) {
    this.#res = caller.res;
  }

  /** Takes a place at the destination and asks it for a connection. */
  start(): void {
    // The caller left during an earlier wait, and is not reported again.
    if (this.#res.destroyed) throw callerHasLeft();
    this.caller.call.askedAt = performance.now();
    this.destination.enter();
    this.#res.exchange = this;
    this.destination.giveConnection(this);
  }

  /** Sends the request over the connection that the destination gives. */
  connected(connection: Connection): void {
    if (!this.request.decision.isConfirmed()) throw unavailable();
    const { method, target, host, headers, tunnels } = this.request;
    const upgrade = tunnels ? 'websocket' : null;
    this.#wasUsed = connection.used;
    this.#connection = connection;
    const body = this.#openBody(this.request.body);
    connection.send({ method, target, host, headers, body, upgrade }, this);
    // A body that is all there went out with its head: `requestSent` has set the limit.
    if (this.#body && this.#phase === 'sending') this.#limit(this.request.bodyIdleMs);
  }

  #openBody(body: OutgoingBody): ClientRequest['body'] {
    if (body === null || !('open' in body)) return body;
    const { caller, stream } = body.open(() => this.#confirmPart());
    this.#body = caller;
    return { stream, length: body.length };
  }

  #confirmPart(): void {
    try {
      const isKnown = this.request.decision.isConfirmed();
      // A body under way goes on as long as nobody knows of a change.
      if (!isKnown && !this.#isBodyUnderWay) throw unavailable();
      this.#isBodyUnderWay = true;
    } catch (thrown) {
      this.#abort(toProblem(thrown));
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
    this.#hasBegun = true;
  }

  informational(): void {
    this.#informational += 1;
    if (this.#informational > informationalMax) {
      throw this.#unreachable('first_byte', `more than ${informationalMax} interim answers`);
    }
  }

  head(status: number, raw: string[]): void {
    this.#answered(status, raw);
    this.answer.head(status, this.answer.headersOf(status, raw));
    this.#phase = 'answering';
    const { answerMs } = this.request;
    if (answerMs !== undefined) this.#answerEndsAt = performance.now() + answerMs;
  }

  #answered(status: number, raw: readonly string[]): void {
    const { call } = this.caller;
    call.answeredAt = performance.now();
    call.destinationStatus = status;
    call.capture?.received(status, raw);
  }

  headAlone(): void {
    this.answer.headAlone();
    this.#limit(this.request.bodyIdleMs);
  }

  data(chunk: Buffer, isLast: boolean): boolean {
    if (!isLast) this.#limit(this.request.bodyIdleMs);
    this.caller.call.capture?.receivedBody.add(chunk);
    if (this.answer.part(chunk, isLast)) return true;
    this.#onDrain ??= () => {
      this.#limit(this.request.bodyIdleMs);
      this.#connection?.resume();
    };
    this.#res.once('drain', this.#onDrain);
    return false;
  }

  complete(trailers: string[]): void {
    this.#over();
    this.destination.leave();
    this.answer.end(trailers);
    this.resolve();
  }

  /** The destination has agreed to a WebSocket, and holds its place as long as the tunnel lasts. */
  upgraded(status: number, raw: string[], socket: Socket): void {
    const { tunnels, decision } = this.request;
    this.#connection = undefined;
    try {
      if (!tunnels || !agreesToWebSocket(raw)) {
        throw this.#unreachable('first_byte', 'the answer to the upgrade names another protocol');
      }
      const closed = (): void => this.destination.leave();
      tunnels.open(this.#res, this.answer.headersOf(status, raw), socket, { decision, closed });
    } catch (thrown) {
      socket.destroy();
      return this.failed(toProblem(thrown));
    }
    this.#answered(status, raw);
    this.#over();
    this.resolve();
  }

  failed(error: Error): void {
    if (this.#phase === 'ended') return;
    if (this.#mayRepeat(error)) return this.#repeat();
    const problem = this.#problemOf(error);
    this.#over();
    this.destination.leave();
    if (this.#res.headersSent || this.#res.destroyed) {
      // Nobody can be told any more. A caller that left is no failure of the destination.
      if (!this.#res.destroyed) recordProblem(this.caller.call, problem);
      this.#res.breakOff();
      this.resolve();
    } else this.reject(problem);
  }

  #problemOf(error: Error): Problem {
    if (error instanceof Problem) return error;
    if (error instanceof RequestInvalid) {
      return new Problem('invalid_request', {
        detail: 'The request cannot be forwarded as it is.',
      });
    }
    const late = error instanceof EgressUnreachable && error.code === 'ETIMEDOUT';
    return new Problem(late ? 'destination_timeout' : 'destination_unreachable', {
      failure: this.#failureOf(error),
      cause: error,
    });
  }

  /** Undefined for what egress refused: that is told to nobody but the operator. */
  #failureOf(error: Error): Failure | undefined {
    const { destination } = this;
    if (error instanceof EgressUnreachable) {
      return destination.failureAt(error.phase, error.reason);
    }
    if (!(error instanceof AnswerFault)) return undefined;
    const { phase, reason } = whereBroken(error, {
      phase: phases[this.#phase],
      isPlain: destination.isPlain,
      sentBytes: this.#connection?.sentBytes ?? 0,
      answerBytes: this.#connection?.answerBytes ?? 0,
    });
    return destination.failureAt(phase, reason);
  }

  #unreachable(phase: FailurePhase, reason: string): Problem {
    const failure = this.destination.failureAt(phase, reason);
    return new Problem('destination_unreachable', { failure });
  }

  /** The destination may hang up an idle connection just when it is used again. */
  #mayRepeat(error: Error): boolean {
    return (
      error instanceof AnswerFault &&
      error.code === 'broken' &&
      this.#wasUsed &&
      !this.#isRepeated &&
      !this.#hasBegun &&
      !this.#body &&
      repeatable.has(this.request.method) &&
      !this.#res.destroyed
    );
  }

  #repeat(): void {
    deadlines.clear(this);
    this.#isRepeated = true;
    this.#connection = undefined;
    this.#phase = 'sending';
    this.destination.giveNewConnection(this);
  }

  /** Also called when the caller got another answer first: its body cannot be read any further. */
  callerLeft(): void {
    this.#abort(callerHasLeft());
  }

  expire(): void {
    const isCallersFault = this.#phase === 'sending' && !this.#body?.isHeldUp;
    this.#abort(
      isCallersFault
        ? new Problem('invalid_request', { status: 408, detail: 'The body came too slowly.' })
        : new Problem('destination_timeout', {
            failure: this.destination.failureAt(phases[this.#phase], this.#missedLimit()),
          }),
    );
  }

  #missedLimit(): string {
    const { firstByteMs, bodyIdleMs, answerMs } = this.request;
    const idle = `for ${bodyIdleMs / 1_000} s`;
    if (this.#phase === 'sending') return `took nothing of the body ${idle}`;
    if (this.#phase === 'waiting') return `no answer within ${firstByteMs / 1_000} s`;
    if (answerMs !== undefined && performance.now() >= this.#answerEndsAt) {
      return `the answer did not end within ${answerMs / 1_000} s`;
    }
    return this.#res.writableNeedDrain
      ? `the caller took nothing of the answer ${idle}`
      : `nothing of the answer came ${idle}`;
  }

  #abort(error: Error): void {
    if (this.#phase === 'ended') return;
    // The connection comes back through `failed`. A call that waits for one hears nothing more.
    if (this.#connection) return this.#connection.abort(error);
    this.destination.withdraw(this);
    this.failed(error);
  }

  #limit(ms: number): void {
    const isBounded = this.#answerEndsAt !== Infinity;
    deadlines.set(this, isBounded ? Math.min(ms, this.#answerEndsAt - performance.now()) : ms);
  }

  #over(): void {
    this.#phase = 'ended';
    this.#connection = undefined;
    this.#res.exchange = undefined;
    deadlines.clear(this);
    if (this.#onDrain) this.#res.off('drain', this.#onDrain);
    this.#body?.destroy();
  }
}

/** Passes the answer to the caller as it comes. */
class AnswerToCaller implements AnswerTaker {
  /** Sent with the end of the answer, and with the head if it is the only part. */
  #last: Buffer | undefined;

  constructor(private readonly answer: StreamedAnswer) {}

  headersOf(status: number, raw: string[]): string[] {
    const { headers, steps, ours, call } = this.answer;
    const stepped = headersAfter(steps, answeredHeaders(raw, ours, status), ours);
    const changed = withOriginHeaders(stepped, call);
    changed.push(...headers, destinationStatusHeader, String(status));
    return changed;
  }

  head(status: number, headers: string[]): void {
    this.answer.res.writeHead(status, headers);
  }

  /** A destination may wait before its first byte. The caller gets its head meanwhile. */
  headAlone(): void {
    this.answer.res.flushHeaders();
  }

  part(chunk: Buffer, isLast: boolean): boolean {
    const { call } = this.answer;
    call.answerBytes = (call.answerBytes ?? 0) + chunk.length;
    if (!isLast) return this.answer.res.write(chunk);
    this.#last = chunk;
    return true;
  }

  end(trailers: string[]): void {
    const { res, ours, steps } = this.answer;
    // A step about a header also applies to a trailer of that name.
    if (trailers.length > 0 && steps.length === 0) {
      res.addTrailers(answeredTrailers(trailers, ours));
    }
    if (this.#last) res.endAtOnce(this.#last);
    else res.end();
  }
}

function unavailable(): Problem {
  return new Problem('service_unavailable', { retryAfterSeconds: 1 });
}
