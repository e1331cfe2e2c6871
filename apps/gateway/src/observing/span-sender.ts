import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  /** A time of `performance.now()`. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
}

const queueMax = 4_096;
const batchMax = 512;
const everyMs = 1_000;
const answerMs = 2_000;

/**
 * Sends spans in batches to a collector, as OTLP over HTTP in JSON. Calls never wait for it: one
 * batch is under way at a time, and spans that do not fit into the queue are dropped and counted.
 * The operator sets the collector's address, so no egress policy applies.
 */
export class SpanSender {
  readonly #url: URL;
  readonly #agent: HttpAgent;
  readonly #timer: NodeJS.Timeout;
  #queue: Span[] = [];
  #sending: Promise<void> | undefined;

  constructor(
    url: string,
    private readonly count: (outcome: 'sent' | 'dropped', spans: number) => void,
  ) {
    this.#url = collectorUrl(url);
    const Agent = this.#url.protocol === 'https:' ? HttpsAgent : HttpAgent;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1 });
    this.#timer = setInterval(() => this.#sendNext(), everyMs);
    this.#timer.unref();
  }

  add(spans: readonly Span[]): void {
    if (this.#queue.length + spans.length > queueMax) return this.count('dropped', spans.length);
    this.#queue.push(...spans);
    if (this.#queue.length >= batchMax) this.#sendNext();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const endAt = performance.now() + answerMs;
    await this.#sending;
    while (this.#queue.length > 0 && performance.now() < endAt) {
      this.#sendNext();
      await this.#sending;
    }
    this.#agent.destroy();
  }

  #sendNext(): void {
    if (this.#sending || this.#queue.length === 0) return;
    const spans = this.#queue.splice(0, batchMax);
    this.#sending = this.#post(documentOf(spans))
      .then(
        () => this.count('sent', spans.length),
        () => this.count('dropped', spans.length),
      )
      .finally(() => (this.#sending = undefined));
  }

  #post(body: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = this.#url.protocol === 'https:' ? httpsRequest : httpRequest;
      const outgoing = request(this.#url, {
        method: 'POST',
        agent: this.#agent,
        signal: AbortSignal.timeout(answerMs),
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      });
      outgoing.on('error', reject);
      outgoing.on('response', (answer) => {
        const { statusCode = 0 } = answer;
        answer.on('error', reject);
        answer.on('end', () =>
          statusCode < 300 ? resolve() : reject(new Error(`the collector said ${statusCode}`)),
        );
        answer.resume();
      });
      outgoing.end(body);
    });
  }
}

/** `http://collector:4318` means what it means to every other exporter. */
function collectorUrl(text: string): URL {
  const url = new URL(text);
  if (url.pathname === '/') url.pathname = '/v1/traces';
  return url;
}

/** https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
function documentOf(spans: readonly Span[]): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': 'glovebox-gateway' }) },
        scopeSpans: [{ scope: { name: 'glovebox' }, spans: spans.map(encoded) }],
      },
    ],
  });
}

function encoded({ startedAt, endedAt, failed, attributes, ...span }: Span): object {
  return {
    ...span,
    startTimeUnixNano: unixNano(startedAt),
    endTimeUnixNano: unixNano(endedAt),
    status: failed ? { code: 2 } : {},
    attributes: attributesOf(attributes),
  };
}

function attributesOf(attributes: Span['attributes']): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [{ key, value: typeof value === 'number' ? { intValue: value } : { stringValue: value } }],
  );
}

/** Uses the clock as it is now: the origin of performance.now() has drifted since the start. */
const unixNano = (at: number): string =>
  String(BigInt(Math.round((Date.now() - performance.now() + at) * 1_000)) * 1_000n);
