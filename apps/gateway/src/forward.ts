import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors, type Dispatcher, type Pool } from 'undici';
import { EgressUnreachable } from '@glovebox/egress';
import { Problem } from '@glovebox/problems';
import type { ServiceHeaders } from '@glovebox/service-host';
import type { Call } from './call';
import { answeredHeaders } from './forwarded-headers';

export interface OutgoingRequest {
  readonly method: string;
  /** Path and query, byte for byte as the destination shall see them. */
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer | IncomingMessage | null;
  readonly firstByteMs: number;
}

const bodyIdleMs = 30_000;

/**
 * Sends the request and streams the answer back as it comes. Rejects with a Problem as long as the
 * caller has got nothing; later faults end the caller's connection, so that half is not taken for whole.
 */
export function forward(
  pool: Pool,
  request: OutgoingRequest,
  res: ServerResponse,
  answerHeaders: readonly string[],
  ours: ServiceHeaders,
  call: Call,
): Promise<void> {
  call.askedAt = performance.now();
  return new Promise((resolve, reject) => {
    pool.dispatch(
      {
        method: request.method as Dispatcher.HttpMethod,
        path: request.path,
        headers: request.headers,
        body: request.body,
        headersTimeout: request.firstByteMs,
        bodyTimeout: bodyIdleMs,
      },
      new Relay(res, answerHeaders, ours, call, resolve, reject),
    );
  });
}

/** Hot path: one object per request, no streams between the two sockets but their own. */
class Relay implements Dispatcher.DispatchHandler {
  #hasData = false;

  constructor(
    private readonly res: ServerResponse,
    private readonly answerHeaders: readonly string[],
    private readonly ours: ServiceHeaders,
    private readonly call: Call,
    private readonly resolve: () => void,
    private readonly reject: (problem: Problem) => void,
  ) {}

  onConnect(abort: (error?: Error) => void): void {
    // A caller that left while the request was queued would wedge its slot.
    if (this.res.destroyed) return abort();
    this.res.once('close', () => {
      if (!this.res.writableFinished) abort();
    });
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    this.call.answeredAt = performance.now();
    this.res.writeHead(status, [
      ...answeredHeaders(raw, this.ours),
      ...this.answerHeaders,
      'SVC-PROXY-DESTINATION-STATUS',
      String(status),
    ]);
    // 304 and HEAD name the length of a body that does not come: undici takes that for a fault.
    if (status === 204 || status === 304 || this.res.req.method === 'HEAD') this.onComplete();
    else {
      this.res.on('drain', resume);
      // A destination that waits before its first byte has been heard all the same.
      setImmediate(() => {
        if (!this.#hasData) this.res.flushHeaders();
      });
    }
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.#hasData = true;
    return this.res.writableEnded || this.res.write(chunk);
  }

  onComplete(): void {
    this.#hasData = true;
    this.res.end();
    this.resolve();
  }

  onError(error: Error): void {
    if (this.res.writableEnded) return;
    if (this.res.headersSent || this.res.destroyed) {
      this.res.destroy();
      this.resolve();
    } else this.reject(problemOf(error));
  }
}

function problemOf(error: Error): Problem {
  const late =
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError ||
    (error instanceof EgressUnreachable && error.code === 'ETIMEDOUT');
  return new Problem(late ? 'destination_timeout' : 'destination_unreachable', { cause: error });
}
