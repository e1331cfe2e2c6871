import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errors, type Dispatcher, type Pool } from 'undici';
import { EgressUnreachable } from '@glovebox/egress';
import { Problem } from '@glovebox/problems';
import type { ServiceHeaders } from '@glovebox/service-host';
import { answeredHeaders } from './forwarded-headers';
import { agreesToWebSocket, type Tunnels } from './upgrade';

export interface OutgoingRequest {
  readonly method: string;
  /** Path and query, byte for byte as the destination shall see them. */
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer | IncomingMessage | null;
  readonly firstByteMs: number;
  /** Asks the destination to make a WebSocket of the connection; here it is kept if it agrees. */
  readonly tunnels?: Tunnels;
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
): Promise<void> {
  return new Promise((resolve, reject) => {
    pool.dispatch(
      {
        method: request.method as Dispatcher.HttpMethod,
        path: request.path,
        headers: request.headers,
        body: request.body,
        headersTimeout: request.firstByteMs,
        bodyTimeout: bodyIdleMs,
        ...(request.tunnels ? { upgrade: 'websocket' } : {}),
      },
      new Relay(res, answerHeaders, ours, request.tunnels, resolve, reject),
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
    private readonly tunnels: Tunnels | undefined,
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

  onUpgrade(status: number, raw: Buffer[] | string[] | null, destination: Duplex): void {
    const headers = this.#headersOf(status, raw ?? []);
    if (this.tunnels && agreesToWebSocket(raw ?? [])) {
      this.tunnels.open(this.res, headers, destination);
      this.resolve();
    } else {
      destination.destroy();
      this.reject(new Problem('destination_unreachable'));
    }
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    // A switch to nothing is no answer, and none would follow.
    if (status === 101) throw new Error('101 without an upgrade');
    if (status < 200) return true;
    this.res.writeHead(status, this.#headersOf(status, raw));
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

  #headersOf(status: number, raw: Buffer[] | string[]): string[] {
    return [
      ...answeredHeaders(raw, this.ours),
      ...this.answerHeaders,
      'SVC-PROXY-DESTINATION-STATUS',
      String(status),
    ];
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
