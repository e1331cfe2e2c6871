import { IncomingMessage } from 'node:http';
import { isBusy } from './caller-connection';
import { isProxyPath } from './route';

/**
 * A request whose small body is read without the detour of a stream. An offer to upgrade is
 * accepted only where it can be. Node 20 has no other way to serve the others (h2c of curl and
 * Java, CONNECT) as ordinary requests, which they also are.
 */
export class CallerRequest extends IncomingMessage {
  private offered: boolean | null = false;
  private accepted: boolean | undefined;
  /** Bytes of the body that have come. */
  bodyBytes = 0;
  private taker: ((chunk: Buffer | null) => void) | undefined;
  /** Sees the body as it comes, whoever reads it. */
  seenBy: { add(chunk: Buffer): void } | undefined;

  /**
   * Gives the body to the taker as Node reads it, and null after it, past the buffers of a stream.
   */
  giveBodyTo(taker: ((chunk: Buffer | null) => void) | undefined): void {
    this.taker = taker;
  }

  override push(chunk: Buffer | null): boolean {
    const { taker } = this;
    if (chunk) {
      this.bodyBytes += chunk.length;
      this.seenBy?.add(chunk);
    }
    if (!taker) return super.push(chunk);
    // The stream must end too: Node asks it whether the request is over.
    if (chunk === null) super.push(null);
    taker(chunk);
    return true;
  }

  // Node asks again with later bytes. The first answer stays.
  get upgrade(): boolean {
    if (!this.offered) return false;
    this.accepted ??= this.mayUpgrade() && !isBusy(this.socket);
    return this.accepted;
  }

  protected mayUpgrade(): boolean {
    return isWebSocket(this) && isProxyPath(this.url ?? '');
  }

  // The base constructor sets null before the fields exist.
  set upgrade(offered: boolean | null) {
    this.offered = offered;
  }
}

export function isWebSocket({ method, httpVersion, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.expect === undefined
  );
}

export function isUpgrade(req: IncomingMessage): boolean {
  return req instanceof CallerRequest && req.upgrade;
}
