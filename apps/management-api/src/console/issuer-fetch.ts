import { request, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { CustomFetchOptions } from 'openid-client';
import type { Egress } from '@glovebox/egress';

const answerBytesMax = 1024 * 1024;

/** A fetch for the issuer, each on a connection of its own that the egress rules have allowed. */
export const fetchThrough =
  (egress: Egress) =>
  async (text: string, options: CustomFetchOptions): Promise<Response> => {
    const url = new URL(text);
    const isTls = url.protocol === 'https:';
    const socket = await egress.connect({
      owner: 'console',
      host: url.hostname,
      port: Number(url.port || (isTls ? 443 : 80)),
      tls: isTls,
      ...(options.signal && { signal: options.signal }),
    });
    try {
      return await exchange(socket, url, options);
    } finally {
      socket.destroy();
    }
  };

async function exchange(
  socket: Duplex,
  url: URL,
  { method, headers, body, signal }: CustomFetchOptions,
): Promise<Response> {
  const content = body === undefined || body === null ? '' : String(body as URLSearchParams);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request({
      method,
      path: url.pathname + url.search,
      headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(content) },
      createConnection: () => socket,
      ...(signal && { signal }),
    });
    sent.once('error', reject);
    sent.once('response', resolve);
    sent.end(content);
  });
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > answerBytesMax) throw new Error('The issuer answered with more than 1 MiB');
    parts.push(part);
  }
  const { statusCode: status = 502 } = answer;
  const isEmpty = status === 204 || status === 304;
  return new Response(isEmpty ? null : Buffer.concat(parts), {
    status,
    headers: Object.entries(answer.headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    ),
  });
}
