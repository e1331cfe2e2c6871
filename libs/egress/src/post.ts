import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { limitTime } from './abort';
import { dial, type Rules, type TlsMaterial } from './dial';
import { EgressUnreachable, unreachable } from './refusal';
import { tlsReasonOf } from './reasons';
import { checkUrl } from './url';

export interface Post extends TlsMaterial {
  /** The tenant that sends it. */
  readonly owner: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface PostAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

const answerBytesMax = 4 * 1024;

/**
 * Sends one POST on a connection of its own and follows no redirects. The answer counts from its
 * headers on. Its body is read and thrown away, up to a limit in bytes and in the time that is
 * left.
 */
export async function post(rules: Rules, text: string, message: Post): Promise<PostAnswer> {
  const { owner, ca, cert, key, timeoutMs } = message;
  const url = checkUrl(rules.policy, rules.own, text);
  const tls = url.protocol === 'https:';
  const late = () => new EgressUnreachable('ETIMEDOUT', 'first_byte', timeoutMs);
  const limit = limitTime(timeoutMs, late, message.signal);
  try {
    const socket = await dial(
      rules,
      {
        owner,
        ca,
        cert,
        key,
        host: url.hostname,
        port: Number(url.port || (tls ? 443 : 80)),
        tls,
        signal: limit.signal,
      },
      'refused',
    );
    try {
      return await exchange(socket, url, message, limit.signal);
    } finally {
      socket.destroy();
    }
  } finally {
    limit.end();
  }
}

function exchange(
  socket: Socket,
  url: URL,
  { headers, body }: Post,
  signal: AbortSignal,
): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) return onAbort();
    const sent = request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: {
        ...headers,
        host: url.host,
        'content-length': Buffer.byteLength(body),
      },
      createConnection: () => socket,
    });
    sent.on('error', (error) => reject(withoutAnswer(error)));
    sent.on('response', (answer) => {
      signal.removeEventListener('abort', onAbort);
      const posted = { status: answer.statusCode ?? 0, headers: answer.headers };
      void discard(answer, signal).then(() => resolve(posted));
    });
    // Nobody asked for a 101.
    sent.on('upgrade', () => reject(new EgressUnreachable('EPROTO', 'first_byte')));
    signal.addEventListener('abort', onAbort, { once: true });
    sent.end(body);
  });
}

/** The error of a request whose answer did not come. */
function withoutAnswer(error: Error & { rawPacket?: Buffer }): EgressUnreachable {
  if (isTlsRecord(error.rawPacket)) return new EgressUnreachable('TLS_RECORD', 'first_byte');
  return unreachable(error, tlsReasonOf(error) === undefined ? 'first_byte' : 'tls');
}

/** A server that speaks TLS answers plain HTTP with an alert, if with anything. */
const isTlsRecord = (bytes: Buffer | undefined): boolean =>
  bytes !== undefined && (bytes[0] === 0x15 || bytes[0] === 0x16) && bytes[1] === 3;

function discard(answer: IncomingMessage, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > answerBytesMax) resolve();
    });
    answer.on('error', () => resolve());
    answer.on('close', () => resolve());
    answer.on('end', () => resolve());
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
