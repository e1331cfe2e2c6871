import type { Readable } from 'node:stream';
import { noFieldChar, noTokenChar } from './field-lines';

export interface ClientRequest {
  readonly method: string;
  /** origin-form: path and query as the destination gets them */
  readonly target: string;
  /** value of Host */
  readonly host: string;
  /** name, value, name, value…: no Host, no framing, nothing about the connection */
  readonly headers: readonly string[];
  readonly body: WholeBody | StreamedSource | null;
  /** adds `connection: upgrade`, `upgrade: websocket` */
  readonly upgrade: 'websocket' | null;
}

/** Bytes that are all there, in one part or in several. */
export type WholeBody = Buffer | readonly Buffer[];

export interface StreamedSource {
  readonly stream: Readable;
  /** undefined: chunked */
  readonly length: number | undefined;
}

/** The request cannot be written as it is. */
export class RequestInvalid extends Error {
  override readonly name = 'RequestInvalid';
}

/** RFC 9112 §3.2.1: origin-form, with the bytes above 0x7f that some servers take. */
const originForm = /^\/[\x21-\x7e\x80-\xff]*$/;
/** RFC 9110 §7.2: uri-host [ ":" port ]. It is a name here and is not parsed. */
const hostText = /^[\x21-\x7e]+$/;
/** RFC 9110 §8.6, §9.3: a request without content says so with these methods. */
const expectsContent = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Set by the client itself, about the connection (RFC 9110 §7.6.1), or answered by it (§10.1.1).
 */
const refusedNames = new Set([
  'host',
  'connection',
  'transfer-encoding',
  'content-length',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'proxy-connection',
]);
const refusedLengths = [...refusedNames].reduce((bits, { length }) => bits | (1 << length), 0);

/** Returns the head as it is written. Throws RequestInvalid. Hot path. */
export function headOf({ method, target, host, headers, body, upgrade }: ClientRequest): string {
  // RFC 9110 §9.3.6: CONNECT has no path, and its answer no end.
  if (!isToken(method) || method === 'CONNECT') throw new RequestInvalid('method');
  if (!originForm.test(target)) throw new RequestInvalid('target');
  if (!hostText.test(host)) throw new RequestInvalid('host');
  const connection = upgrade === null ? 'connection: keep-alive\r\n' : upgradeLines;
  let head = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n${connection}`;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const value = headers[at + 1];
    if (!isToken(name) || isRefused(name))
      throw new RequestInvalid('a header that is no token or is not to be sent');
    if (value === undefined || noFieldChar.test(value)) {
      throw new RequestInvalid('the value of a header');
    }
    head += name + ': ' + value + '\r\n';
  }
  return head + framing(method, body, upgrade) + '\r\n';
}

const upgradeLines = 'connection: upgrade\r\nupgrade: websocket\r\n';

function isToken(text: string): boolean {
  return text !== '' && !noTokenChar.test(text);
}

function isRefused(name: string): boolean {
  const mayBe = name.length < 32 && ((refusedLengths >> name.length) & 1) === 1;
  return mayBe && refusedNames.has(name.toLowerCase());
}

/** Undefined: not known before its end. */
function bytesOf(body: ClientRequest['body']): number | undefined {
  if (body === null) return 0;
  if (Buffer.isBuffer(body) || isStreamed(body)) return body.length;
  return body.reduce((bytes, { length }) => bytes + length, 0);
}

export function isStreamed(body: ClientRequest['body']): body is StreamedSource {
  return body !== null && 'stream' in body;
}

/** RFC 9112 §6.1, §6.2 */
function framing(method: string, body: ClientRequest['body'], upgrade: string | null): string {
  const length = bytesOf(body);
  if (length === undefined) {
    if (upgrade !== null) throw new RequestInvalid('an upgrade with a body');
    return 'transfer-encoding: chunked\r\n';
  }
  if (!Number.isSafeInteger(length) || length < 0)
    throw new RequestInvalid('the length of the body');
  if (length === 0 && !expectsContent.has(method)) return '';
  if (upgrade !== null) throw new RequestInvalid('an upgrade with a body');
  return `content-length: ${length}\r\n`;
}
