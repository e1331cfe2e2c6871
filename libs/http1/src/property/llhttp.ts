import { request, type IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { answerHeadBytesMax } from '../answer-fault';
import type { Case } from './answers';

/** An answer as another client reads it. Undefined: it refuses the bytes, or waits for more. */
export interface Understood {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
  readonly trailers: readonly string[];
  readonly informationals: readonly number[];
  /** The connection may be used again. */
  readonly keeps: boolean;
  readonly isSwitched: boolean;
}

class Wire extends Duplex {
  override _read(): void {}

  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done();
  }
}

const hasLlhttp8 = Number.parseInt(process.versions['llhttp'] ?? '', 10) < 9;
const framing = /^(?:content-length|transfer-encoding):/im;
const escapeInExtension = /^[\da-f]+;.*\\/im;

/**
 * Node 20 before 20.19.2 has llhttp 8. It waits for the body that the head of a 204 names, though
 * a 204 has none (RFC 9112 §6.3 rule 1), and refuses `\` in a quoted value of a chunk's extension
 * (RFC 9112 §7.1.1, RFC 9110 §5.6.4). llhttp 9 takes both as we do.
 */
export function isRefusedByLlhttp8(status: number, text: string): boolean {
  return hasLlhttp8 && ((status === 204 && framing.test(text)) || escapeInExtension.test(text));
}

/** Node's client, whose parser is llhttp, over a wire in memory. */
export function understoodByNode(one: Case, text: string): Promise<Understood | undefined> {
  return new Promise((resolve) => {
    const wire = new Wire({ highWaterMark: 1024 * 1024 });
    const outgoing = request({
      method: one.method,
      createConnection: () => wire,
      maxHeaderSize: 2 * answerHeadBytesMax,
      headers: one.isUpgrade ? { Connection: 'Upgrade', Upgrade: 'websocket' } : {},
    });
    // Without an agent the client would not check whether it may.
    outgoing.shouldKeepAlive = true;
    const informationals: number[] = [];
    let hasBegun = false;
    const refuses = (): void => resolve(undefined);
    const understands = (answer: IncomingMessage, body: string, isSwitched: boolean): void =>
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.rawHeaders,
        body,
        trailers: answer.rawTrailers,
        informationals,
        // HTTP/1.0 keeps connections by a private understanding, which we do not share.
        keeps: !isSwitched && outgoing.shouldKeepAlive && answer.httpVersionMinor === 1,
        isSwitched,
      });
    outgoing
      .on('information', ({ statusCode }) => informationals.push(statusCode))
      .on('upgrade', (answer) => understands(answer, '', true))
      .on('response', (answer) => {
        hasBegun = true;
        let body = '';
        answer
          .setEncoding('latin1')
          .on('data', (part: string) => (body += part))
          .on('error', refuses)
          .on('close', () => (answer.complete ? understands(answer, body, false) : refuses()));
      })
      .on('error', refuses)
      .on('close', () => hasBegun || refuses())
      .on('socket', () => process.nextTick(feed, wire, text, one.sizes))
      .end();
  });
}

function feed(wire: Duplex, text: string, sizes: readonly number[]): void {
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0, n = 0; at < bytes.length && !wire.destroyed; n += 1) {
    const size = sizes[Math.min(n, sizes.length - 1)] ?? 1;
    wire.push(bytes.subarray(at, at + size));
    at += size;
  }
  wire.push(null);
}
