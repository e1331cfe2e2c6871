import type { ServerResponse } from 'node:http';
import { create, revealingApplication, type Product } from '../product';
import { startReceiver, type Received, type Receiver } from '../receiver';

/** The parts of a call of a proxy. */
interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON; a text or bytes are sent unchanged. */
  readonly body?: unknown;
  readonly anonymous?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly code: string | undefined;
  readonly detail: string | undefined;
}

export interface TransformingProxy {
  readonly id: string;
  readonly key: string;
  call(call?: Call): Promise<Answer>;
}

interface Code {
  readonly request?: string;
  readonly response?: string;
}

/** A tenant's destination, application and proxies, for specs of transforms. */
export class Workshop {
  /** The answer of the destination to the next requests. */
  answer: ((res: ServerResponse, request: Received) => void) | undefined;

  private constructor(
    private readonly product: Product,
    readonly destination: Receiver,
    readonly applicationId: string,
  ) {}

  static async open(product: Product): Promise<Workshop> {
    const opened: { shop?: Workshop } = {};
    const destination = await startReceiver((res, request) => {
      if (opened.shop?.answer) opened.shop.answer(res, request);
      else res.writeHead(200, { 'content-type': 'application/json' }).end('{"received":true}');
    });
    const { id: application } = await revealingApplication(product, ['create', 'read', 'use']);
    opened.shop = new Workshop(product, destination, application);
    return opened.shop;
  }

  /** The first request that the destination got since the last reset. */
  get forwarded(): Received {
    const [request] = this.destination.received;
    if (!request) throw new Error('nothing was forwarded');
    return request;
  }

  reset(): void {
    this.answer = undefined;
    this.destination.received.length = 0;
  }

  close(): Promise<void> {
    return this.destination.close();
  }

  /**
   * A proxy whose transforms are these bodies of functions of `args`, `configuration` and `svc`.
   */
  async proxy(
    { request, response }: Code,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<TransformingProxy> {
    const { baseUrl, privateKey } = this.product;
    const created = await create(this.product, '/proxies', {
      name: 'transforming',
      destination_url: this.destination.url,
      ...(request === undefined ? {} : { request_transform: transformOf(request) }),
      ...(response === undefined ? {} : { response_transform: transformOf(response) }),
      ...more,
    });
    const key = String(created.key);
    return {
      id: created.id,
      key,
      call: async ({ method = 'POST', path = '', headers = {}, body, anonymous = false } = {}) => {
        const isData = typeof body === 'string' || Buffer.isBuffer(body);
        const answer = await fetch(`${baseUrl}/proxy${path}`, {
          method,
          redirect: 'manual',
          headers: {
            'SVC-PROXY-KEY': key,
            ...(anonymous ? {} : { 'SVC-API-KEY': privateKey }),
            ...(body === undefined || isData ? {} : { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: isData ? body : JSON.stringify(body) }),
        });
        return answerOf(answer.status, answer.headers, await answer.text());
      },
    };
  }
}

function answerOf(status: number, headers: Headers, text: string): Answer {
  const problem = /"proxy_error"/.test(text)
    ? (JSON.parse(text) as { proxy_error?: { code?: string; detail?: string } }).proxy_error
    : undefined;
  return { status, headers, text, code: problem?.code, detail: problem?.detail };
}

const transformOf = (code: string) => ({
  code: `module.exports = async function ({ args, configuration, svc }) {\n${code}\n};`,
  runtime: 'node20',
});
