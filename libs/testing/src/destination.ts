import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

export interface RecordedRequest {
  readonly method: string;
  /** The path and query as they were received. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  text(): string;
  json(): unknown;
}

type DestinationHandler = (
  request: RecordedRequest,
  response: ServerResponse,
) => void | Promise<void>;

export interface Destination {
  readonly url: string;
  readonly port: number;
  /** `127.0.0.1:port`, in the form of EGRESS_ALLOW. */
  readonly address: string;
  readonly requests: RecordedRequest[];
  close(): Promise<void>;
}

const answerOk: DestinationHandler = (_request, response) => {
  response.setHeader('content-type', 'application/json').end('{"ok":true}');
};

/** Starts a third party on this machine. It records requests, and answers 200 unless told otherwise. */
export async function startDestination(
  handler: DestinationHandler = answerOk,
): Promise<Destination> {
  const requests: RecordedRequest[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const recorded = await record(request);
    requests.push(recorded);
    await handler(recorded, response);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    address: `127.0.0.1:${address.port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function record(request: IncomingMessage): Promise<RecordedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    body,
    text: () => body.toString('utf8'),
    json: () => JSON.parse(body.toString('utf8')) as unknown,
  };
}
